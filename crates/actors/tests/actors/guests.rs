//! Threads that wait for a process, and take its steps themselves while a worker is idle.

use std::sync::mpsc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use filch_actors::ExecuteError;
use filch_actors::prelude::*;
use filch_scheduler::{CallKind, Event, Scheduler, SubmitError};

use crate::calls::{until_idle, visits, wake_ups};
use crate::common::{Command, Scripted, Test, handle, scheduler, scripted, until, waiting};

/// A scheduler whose workers are idle.
fn idle(workers: usize) -> Scheduler<Test> {
    let scheduler = scheduler(workers);
    until_idle(&scheduler);
    scheduler
}

/// Makes a process that takes `steps` steps and tells the thread of each.
fn telling(steps: u64) -> (Scripted, mpsc::Receiver<ThreadId>) {
    let (ran, on) = mpsc::channel();
    let mut left = steps;
    let process = scripted(move |context, _, out| {
        assert!(context.handle().is_worker());
        ran.send(thread::current().id()).unwrap();
        left -= 1;
        match left {
            0 => out.done(steps),
            _ => out.go_on(),
        }
    });
    (process, on)
}

/// A failure: a worker is woken for a step that the caller could take.
#[test]
fn who_executes_takes_the_steps() {
    for workers in [1, 2, 8] {
        let scheduler = idle(workers);
        let before = wake_ups(&scheduler);
        for _ in 0..50 {
            let (process, on) = telling(1);
            assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 1);
            assert_eq!(on.try_recv(), Ok(thread::current().id()));
            assert!(!scheduler.is_worker());
        }
        assert_eq!((visits(&scheduler), wake_ups(&scheduler)), (50, before));
        assert_eq!(scheduler.live(), 0);
    }
}

/// A failure: a worker takes the second step, though nothing else wants to run.
#[test]
fn who_executes_takes_all_steps_that_follow_each_other() {
    let scheduler = Scheduler::builder().workers(2).clock(stopped).build();
    let scheduler = scheduler.unwrap();
    until_idle(&scheduler);
    let (process, on) = telling(20);
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 20);
    assert_eq!(
        on.try_iter().collect::<Vec<_>>(),
        [thread::current().id(); 20]
    );
    assert_eq!(visits(&scheduler), 1);
}

/// No visit takes too long.
fn stopped() -> std::time::Instant {
    static NOW: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    *NOW.get_or_init(std::time::Instant::now)
}

/// A failure: the process that the step has woken runs on the caller's thread, which may hold a
/// lock that it wants.
#[test]
fn who_executes_takes_no_other_ones_steps() {
    let scheduler = idle(1);
    let (other, on) = telling(1);
    let mut other = Some(other);
    let process = scripted(move |context, _, out| {
        let other = other.take().expect("one step");
        drop(context.submit(other, "run", 0).unwrap());
        out.done(0);
    });
    scheduler.execute(process, "run", 0).unwrap();
    assert_ne!(on.recv(), Ok(thread::current().id()));
}

/// Another process completes its commands, one after the other: the caller waits for that one, too.
/// A failure: a worker is woken for it, and the caller sleeps.
#[test]
fn who_executes_takes_the_steps_that_complete_its_commands() {
    let (ran, on) = mpsc::channel();
    let scheduler = Scheduler::<Test>::builder()
        .workers(1)
        .clock(stopped)
        .handler(move |_, completion| {
            let (ran, scheduler) = (ran.clone(), completion.handle().clone());
            let completes = async move {
                ran.send(thread::current().id()).unwrap();
                completion.complete(1);
            };
            drop(scheduler.spawn(completes).unwrap());
        });
    let scheduler = scheduler.build().unwrap();
    until_idle(&scheduler);
    let before = wake_ups(&scheduler);
    let mut left = 3;
    let process = scripted(move |_, _, out| {
        if left == 0 {
            return out.done(7);
        }
        left -= 1;
        out.yield_command(0, Command::EchoLater(1));
        out.wait();
    });
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 7);
    assert_eq!(
        on.try_iter().collect::<Vec<_>>(),
        [thread::current().id(); 3]
    );
    assert_eq!((visits(&scheduler), wake_ups(&scheduler)), (1, before));
}

/// A process that idles waits for anyone's message. A failure: the one that it has started runs on
/// the caller's thread, which may hold a lock that it wants.
#[test]
fn who_executes_takes_no_other_ones_steps_for_a_message() {
    let scheduler = idle(1);
    let (ran, on) = mpsc::channel();
    let process = scripted(move |context, events, out| {
        if !events.is_empty() {
            return out.done(0);
        }
        let (ran, to) = (ran.clone(), context.pid());
        let other = scripted(move |context, _, out| {
            ran.send(thread::current().id()).unwrap();
            context.handle().send(to, (0, 1)).unwrap();
            out.done(0);
        });
        drop(context.submit(other, "run", 0).unwrap());
        out.idle();
    });
    scheduler.execute(process, "run", 0).unwrap();
    assert_ne!(on.recv(), Ok(thread::current().id()));
}

/// The answer to its command comes from another thread, which makes it runnable there. A failure:
/// the caller sleeps for ever.
#[test]
fn a_process_that_waits_goes_on_with_a_worker() {
    let scheduler = idle(1);
    let process = scripted(|_, events, out| match events.into_iter().next() {
        Some(Event::Completed { result, .. }) => out.done(result.unwrap()),
        _ => {
            out.yield_command(0, Command::EchoLater(7));
            out.wait();
        }
    });
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 7);
}

/// A failure: a deadlock, as the caller waits for itself.
#[test]
fn a_step_on_the_callers_thread_is_inside() {
    let scheduler = idle(2);
    let process = scripted(|context, _, out| {
        let (inner, _on) = telling(1);
        let refused = context.handle().execute(inner, "run", 0);
        assert!(matches!(refused, Err(ExecuteError::CalledFromInside(_))));
        out.done(1);
        Ok(())
    });
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 1);
}

/// The steps may take longer than the caller wants to wait. A failure: the caller takes them.
#[test]
fn whoever_waits_for_a_while_takes_no_steps() {
    let scheduler = idle(2);
    let (process, on) = telling(1);
    let process = scheduler.submit(process, "run", 0).unwrap();
    let output = process.join_timeout(Duration::from_secs(3600));
    assert_eq!(output.unwrap(), 1);
    assert_ne!(on.recv(), Ok(thread::current().id()));
}

/// Its own process, a future, and one among many that are submitted at once: each ends once, on any
/// thread. A failure: a hang, or the output of another process.
#[test]
fn whoever_joins_gets_the_right_output() {
    let scheduler = idle(2);
    for round in 0..200 {
        let processes: Vec<_> = (1..=3)
            .map(|steps| {
                let (process, on) = telling(steps);
                (scheduler.submit(process, "run", 0).unwrap(), on)
            })
            .collect();
        let future = scheduler.spawn(async move { round }).unwrap();
        assert_eq!(future.join().unwrap(), round);
        for ((process, on), steps) in processes.into_iter().zip(1..) {
            assert_eq!(process.join().unwrap(), steps);
            assert_eq!(on.iter().count() as u64, steps);
        }
    }
    assert_eq!(scheduler.live(), 0);
}

#[test]
fn guests_can_be_forbidden() {
    let scheduler = Scheduler::builder()
        .workers(2)
        .threads(|set| set.guests(false));
    let scheduler = scheduler.handler(handle).build().unwrap();
    let (process, on) = telling(1);
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 1);
    assert_ne!(on.recv(), Ok(thread::current().id()));
    assert_eq!(visits(&scheduler), 0);
}

/// A failure: the shutdown does not wait for the step, or does not report it, or the caller is
/// never told of the end.
#[test]
fn a_shutdown_beside_a_guest() {
    let scheduler = idle(2);
    let (begun, has_begun) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let caller = scheduler.handle();
    let guest = thread::spawn(move || {
        let process = scripted(move |context, _, out| {
            begun.send(context.pid()).unwrap();
            gate.recv().unwrap();
            out.done(3);
        });
        caller.execute(process, "run", 0).unwrap()
    });
    let pid = has_begun.recv().unwrap();
    let running = scheduler.running();
    assert_eq!(running.len(), 1, "{running:?}");
    assert_eq!(
        (running[0].process, &running[0].kind),
        (Some(pid), &CallKind::Step)
    );
    let handle = scheduler.handle();
    let shutdown = thread::spawn(move || scheduler.shutdown(Duration::MAX).unwrap());
    // It refuses once it has begun.
    let is_refused = || handle.submit(waiting(), "fail", 0);
    until(|| {
        matches!(
            is_refused(),
            Err(SubmitError::NotAdmitted(
                filch_scheduler::NotAdmitted::ShutDown,
                _
            ))
        )
    });
    go_on.send(()).unwrap();
    assert_eq!(guest.join().unwrap(), 3);
    assert!(shutdown.join().unwrap().is_clean());
}
