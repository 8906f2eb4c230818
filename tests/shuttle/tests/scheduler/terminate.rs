//! Terminations against other ends of a process, and against wake-ups.

use std::time::Duration;

use shuttle::sync::{Arc, Mutex};
use shuttle::thread;
use shuttle_tests::{explore, explore_each};

use super::{
    Closed, FOR_EVER, Note, Numbers, prompt_scheduler, scheduler, scripted, summing,
    until_cancelled,
};
use filch_scheduler::{Completion, Event, JoinError, Pid, ProcessError, ProcessHandle};

/// Joins it; returns the output, or `None` if it was terminated.
fn ended(process: ProcessHandle<Numbers>) -> Option<usize> {
    match process.join() {
        Ok(output) => Some(output),
        Err(JoinError::Process(ProcessError::Terminated)) => None,
        Err(error) => panic!("{error}"),
    }
}

/// A process goes idle, gets the message by which it ends, and is terminated, all at once. A
/// failure: a deadlock in `join`, as the signal was in the queue and nobody was told; or a process
/// that is closed twice.
#[test]
fn a_termination_races_with_a_message() {
    explore_each(
        "a termination ends an idle process",
        1_500,
        [1, 2],
        |workers| {
            let (scheduler, closed) = (prompt_scheduler(workers), Closed::new());
            let process = scheduler.submit(summing(&closed, 1), "run", ()).unwrap();
            let pid = process.pid();
            let sender = thread::spawn({
                let handle = scheduler.handle();
                move || handle.send(pid, Note::Number(5)).is_ok()
            });
            let accepted = scheduler.terminate(pid).is_ok();
            let output = ended(process);
            let sent = sender.join().unwrap();
            // Terminated before its end; or done with the message, which had arrived.
            assert!(output.map_or(accepted, |sum| sum == 5 && sent));
            assert_eq!(closed.count(), 1);
            assert!(scheduler.terminate(pid).is_err());
            scheduler.shutdown(FOR_EVER).unwrap();
        },
    );
}

/// A process is blocked by a command; the completion comes while it is terminated, or later. A
/// failure: the completion reaches the slot's next process; or a deadlock in `join`.
#[test]
fn a_termination_races_with_a_completion() {
    explore("a termination against a completion", 1_500, || {
        let scheduler = scheduler(2, |number, completion: Completion<Numbers>| {
            thread::spawn(move || completion.complete(number));
        });
        let closed = Closed::new();
        let mut asked = false;
        let process = scripted(&closed, move |_, events, out| {
            if !asked {
                asked = true;
                out.yield_command(1, 9);
                return out.wait();
            }
            for event in events {
                let Event::Completed { result, .. } = event else {
                    panic!("{event:?}")
                };
                out.done(result.unwrap());
            }
        });
        let process = scheduler.submit(process, "run", ()).unwrap();
        let accepted = scheduler.terminate(process.pid()).is_ok();
        let output = ended(process);
        assert!(output.map_or(accepted, |reply| reply == 9));
        let next = scheduler.submit(summing(&closed, 1), "run", ()).unwrap();
        scheduler.send(next.pid(), Note::Number(1)).unwrap();
        assert_eq!(next.join().unwrap(), 1);
        assert_eq!(closed.count(), 2);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// Two threads terminate a process that ends itself in its first step. A failure: it is closed
/// twice, or `live` is wrong and the shutdown never returns.
#[test]
fn terminations_race_with_the_end() {
    explore("an end, and two terminations", 1_500, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let process = scripted(&closed, |_, _, out| out.done(3));
        let process = scheduler.submit(process, "run", ()).unwrap();
        let pid = process.pid();
        let other = thread::spawn({
            let handle = scheduler.handle();
            move || handle.terminate(pid).is_ok()
        });
        let here = scheduler.terminate(pid).is_ok();
        let there = other.join().unwrap();
        assert!(ended(process).map_or(here || there, |output| output == 3));
        assert_eq!(closed.count(), 1);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// A termination, the cancel of a shutdown and, if its patience ends early, the abortion. A
/// failure: a deadlock in `shutdown`, or a process that is closed twice.
#[test]
fn a_termination_races_with_the_shutdown() {
    for patience in [Duration::ZERO, FOR_EVER] {
        explore("a termination against the shutdown", 1_000, move || {
            let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
            let process = scheduler
                .submit(until_cancelled(&closed), "run", ())
                .unwrap();
            let (handle, pid) = (scheduler.handle(), process.pid());
            let terminator = thread::spawn(move || handle.terminate(pid).is_ok());
            scheduler.shutdown(patience).unwrap();
            match process.join() {
                Ok(7) => {}
                Err(JoinError::Process(ProcessError::Terminated)) => {}
                Err(JoinError::Process(ProcessError::ShutDown)) => {
                    assert_eq!(patience, Duration::ZERO);
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(closed.count(), 1);
            terminator.join().unwrap();
        });
    }
}

/// `init` tells its PID before the process is Ready: the termination comes before, during or after
/// the submission. A failure: a deadlock in `join`, as the state refused the signal and it was
/// forgotten.
#[test]
fn a_termination_races_with_the_submission() {
    explore("a termination before the first step", 1_500, || {
        let (scheduler, closed) = (prompt_scheduler(1), Closed::new());
        let told = Arc::new(Mutex::new(None));
        let terminator = thread::spawn({
            let (handle, told) = (scheduler.handle(), Arc::clone(&told));
            move || {
                let pid: Option<Pid> = *told.lock().unwrap();
                pid.is_some_and(|pid| handle.terminate(pid).is_ok())
            }
        });
        let process = summing(&closed, 1).that_begins(move |pid| {
            *told.lock().unwrap() = Some(pid);
            Ok(())
        });
        let process = scheduler.submit(process, "run", ()).unwrap();
        if terminator.join().unwrap() {
            assert_eq!(ended(process), None);
        } else {
            scheduler.send(process.pid(), Note::Number(2)).unwrap();
            assert_eq!(ended(process), Some(2));
        }
        assert_eq!(closed.count(), 1);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}
