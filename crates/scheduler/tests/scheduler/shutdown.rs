//! Row A12: cancel, patience, the rest is closed, nothing leaks, everybody is closed exactly once.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::common::{Command, Test, closed_once, scheduler, scripted, summing, waiting};
use filch_scheduler::{CalledFromInside, Event, JoinError, ProcessError, Scheduler};

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a12_everybody_is_asked_and_everybody_ends() {
    let scheduler = scheduler(2);
    let processes: Vec<_> = (0..100)
        .map(|_| {
            let process = waiting();
            (
                process.closed(),
                scheduler.submit(process, "run", 0).unwrap(),
            )
        })
        .collect();
    let report = scheduler.shutdown(PATIENCE).unwrap();
    assert_eq!(
        (report.cancelled, report.aborted, report.stuck),
        (100, 0, vec![])
    );
    for (closed, handle) in processes {
        assert_eq!(handle.join().unwrap(), 0);
        assert!(closed_once(&closed));
    }
}

#[test]
fn a12_those_who_do_not_listen_are_closed() {
    let scheduler = scheduler(2);
    let (give, completions) = mpsc::channel();
    let deaf = scripted(|_, _, out| out.idle());
    let blocked = scripted(move |_, events, out| {
        if events.is_empty() {
            out.yield_command(0, Command::Give(give.clone()));
        }
        out.wait();
    });
    let busy = scripted(|_, _, out| out.go_on());
    let all = [deaf, blocked, busy].map(|process| {
        (
            process.closed(),
            scheduler.submit(process, "run", 0).unwrap(),
        )
    });
    // The command is under way: the process is blocked, or will be.
    let completion = completions.recv().unwrap();
    let report = scheduler.shutdown(Duration::from_millis(1)).unwrap();
    assert_eq!(
        (report.cancelled, report.aborted, report.stuck),
        (3, 3, vec![])
    );
    for (closed, handle) in all {
        assert!(matches!(
            handle.join(),
            Err(JoinError::Process(ProcessError::ShutDown))
        ));
        assert!(closed_once(&closed));
    }
    // The handler did not know. It does no harm.
    completion.complete(1);
}

#[test]
fn dropping_the_scheduler_closes_what_lives() {
    let scheduler = scheduler(2);
    let process = summing(1);
    let closed = process.closed();
    let handle = scheduler.submit(process, "run", 0).unwrap();
    drop(scheduler);
    assert!(matches!(
        handle.join(),
        Err(JoinError::Process(ProcessError::ShutDown))
    ));
    assert!(closed_once(&closed));
}

#[test]
fn shutdown_from_inside_is_refused_and_everybody_is_still_asked() {
    let scheduler = scheduler(2);
    let other = scheduler.submit(waiting(), "run", 0).unwrap();
    let owner: Arc<Mutex<Option<Scheduler<Test>>>> = Arc::default();
    let process = scripted({
        let owner = Arc::clone(&owner);
        move |_, events, out| {
            if let Some(scheduler) = owner.lock().unwrap().take() {
                assert_eq!(scheduler.shutdown(PATIENCE), Err(CalledFromInside));
            }
            if events.iter().any(|event| matches!(event, Event::Cancel(_))) {
                out.done(1);
            } else {
                out.idle();
            }
            Ok(())
        }
    });
    let handle = scheduler.handle();
    *owner.lock().unwrap() = Some(scheduler);
    let inside = handle.submit(process, "run", 0).unwrap();
    assert_eq!(inside.join().unwrap(), 1);
    assert_eq!(other.join().unwrap(), 0);
}
