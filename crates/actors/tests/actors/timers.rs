//! Timers for processes, on a clock that the test moves: nothing here sleeps or measures. The
//! timers themselves are tested in `filch-timers`.

use std::sync::mpsc;
use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::timers::{FakeClock, Timers};
use filch_scheduler::{Completion, Event, JoinError, ProcessError, ProcessHandle, Scheduler};
use filch_timers::Timers as PlainTimers;

use crate::common::{Command, Test, scheduler, scripted, start, summing};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// Makes timers by the crate of the timers itself: there is one type of that name. A failure does
/// not compile.
pub(crate) fn fake() -> (FakeClock, Timers) {
    let clock = FakeClock::new();
    let timers = PlainTimers::with_clock(clock.clone()).unwrap();
    (clock, timers)
}

/// A process that has yielded one command, and its completion. It is done with the reply, or fails
/// with the error.
pub(crate) fn asked(scheduler: &Scheduler<Test>) -> (ProcessHandle<Test>, Completion<Test>) {
    let (give, completions) = mpsc::channel();
    let process = start(scheduler, move |_, mut events, out| {
        match events.pop() {
            Some(Event::Completed { result, .. }) => {
                out.done(result.map_err(|error| error.to_string())?);
            }
            _ => {
                out.yield_command(0, Command::Give(give.clone()));
                out.wait();
            }
        }
        Ok(())
    });
    (process, completions.recv().unwrap())
}

pub(crate) fn failure(process: ProcessHandle<Test>) -> String {
    match process.join() {
        Err(JoinError::Process(ProcessError::Failed(message))) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_command_that_sleeps() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let (process, completion) = asked(&scheduler);
    timers.complete_after(SECOND, completion, 5).unwrap();
    clock.advance(SECOND - Duration::from_nanos(1));
    assert!(!process.has_ended());
    assert_eq!(timers.pending(), 1);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(process.join().unwrap(), 5);
}

#[test]
fn a_cancelled_sleep_and_a_dropped_guard_are_heard_of() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let (process, completion) = asked(&scheduler);
    let key = timers.complete_after(SECOND, completion, 5).unwrap();
    assert!(timers.cancel(key));
    assert!(failure(process).contains("without completing"));

    let (process, completion) = asked(&scheduler);
    drop(timers.guard(timers.complete_after(SECOND, completion, 5).unwrap()));
    assert!(failure(process).contains("without completing"));

    let (process, completion) = asked(&scheduler);
    let _ = timers
        .guard(timers.complete_after(SECOND, completion, 5).unwrap())
        .disarm();
    clock.advance(SECOND);
    assert_eq!(process.join().unwrap(), 5);
}

#[test]
fn a_deadline_lets_one_of_the_two_answer() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let limit = || timers.now() + SECOND;

    let (process, completion) = asked(&scheduler);
    let bounded = timers
        .deadline(limit(), completion, "too late".to_owned())
        .unwrap();
    bounded.take().unwrap().complete(1);
    assert_eq!(process.join().unwrap(), 1);
    assert_eq!(timers.pending(), 0, "in time: the timer is gone");

    let (process, completion) = asked(&scheduler);
    let bounded = timers
        .deadline(limit(), completion, "too late".to_owned())
        .unwrap();
    bounded.take().unwrap().fail("no".to_owned());
    assert_eq!(failure(process), "no");

    let (process, completion) = asked(&scheduler);
    let bounded = timers
        .deadline(limit(), completion, "too late".to_owned())
        .unwrap();
    clock.advance(SECOND);
    assert_eq!(failure(process), "too late");
    assert!(bounded.take().is_none());

    let (process, completion) = asked(&scheduler);
    drop(
        timers
            .deadline(limit(), completion, "too late".to_owned())
            .unwrap(),
    );
    assert!(failure(process).contains("without completing"));
    assert_eq!(timers.pending(), 0);
}

#[test]
fn an_interval_ticks_until_its_process_ends() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let process = scheduler.submit(summing(3), "run", 0).unwrap();
    let mut ticks = 0;
    let message = move || {
        ticks += 1;
        (0, ticks)
    };
    let key = timers
        .interval(SECOND, &scheduler, process.pid(), message)
        .unwrap();
    clock.advance(SECOND / 2);
    clock.advance(5 * SECOND / 2);
    assert_eq!(process.join().unwrap(), 1 + 2 + 3);
    assert_eq!(timers.pending(), 1, "it has not noticed yet");
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 0);
    assert!(!timers.cancel(key));
}

/// Its mailbox is full, then it has room again: two turns are left out.
#[test]
fn an_interval_leaves_out_turns_for_which_there_is_no_room() {
    let (clock, timers) = fake();
    let scheduler = scheduler(1);
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let mut sum = 0;
    let process = scripted(move |_, events, out| {
        for event in &events {
            if let Event::Message((_, value)) = event {
                sum += value;
            }
        }
        match sum {
            0 => {
                entered.send(()).unwrap();
                gate.recv().unwrap();
                out.idle();
            }
            1 => out.idle(),
            _ => out.done(sum),
        }
    });
    let process = scheduler
        .submission(process, "run", 0)
        .mailbox(1)
        .submit()
        .unwrap();
    inside.recv().unwrap();
    let mut ticks = 0;
    let message = move || {
        ticks += 1;
        (0, ticks)
    };
    timers
        .interval(SECOND, &scheduler, process.pid(), message)
        .unwrap();
    clock.advance(3 * SECOND);
    assert_eq!(timers.pending(), 1, "it lives, and is not cancelled");
    go_on.send(()).unwrap();
    scheduler.wait_for_standstill().unwrap();
    clock.advance(SECOND);
    assert_eq!(process.join().unwrap(), 1 + 4);
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 0);
}

#[test]
fn a_message_at_a_time_and_none_to_the_dead() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let process = scheduler.submit(summing(1), "run", 0).unwrap();
    let pid = process.pid();
    timers
        .send_at(timers.now() + SECOND, &scheduler, pid, (0, 9))
        .unwrap();
    timers
        .send_at(timers.now() + 2 * SECOND, &scheduler, pid, (0, 10))
        .unwrap();
    clock.advance(SECOND);
    assert_eq!(process.join().unwrap(), 9);
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 0);
}

/// Later sleeps sweep out those that nobody waits for any more. A failure: each process that was
/// terminated in its sleep keeps a timer, and its slot in the table, for an hour.
#[test]
fn a_sleep_does_not_outlast_its_process_for_long() {
    let (_clock, timers) = fake();
    let scheduler = scheduler(2);
    let (sleeper, completion) = asked(&scheduler);
    timers.complete_after(3600 * SECOND, completion, 5).unwrap();
    for _ in 0..100 {
        let (process, completion) = asked(&scheduler);
        timers.complete_after(3600 * SECOND, completion, 5).unwrap();
        scheduler.terminate(process.pid()).unwrap();
        assert!(process.join().is_err());
        assert!(timers.pending() <= 4, "{timers:?}");
    }
    scheduler.terminate(sleeper.pid()).unwrap();
}

#[test]
fn a_message_for_later_does_not_outlast_its_process_for_long() {
    let (_clock, timers) = fake();
    let scheduler = scheduler(2);
    let living = scheduler.submit(summing(1), "run", 0).unwrap();
    let in_an_hour = timers.after(3600 * SECOND);
    timers
        .send_at(in_an_hour, &scheduler, living.pid(), (0, 9))
        .unwrap();
    for _ in 0..100 {
        let process = scheduler.submit(summing(1), "run", 0).unwrap();
        timers
            .send_at(in_an_hour, &scheduler, process.pid(), (0, 9))
            .unwrap();
        scheduler.terminate(process.pid()).unwrap();
        assert!(process.join().is_err());
        assert!(timers.pending() <= 4, "{timers:?}");
    }
    scheduler.send(living.pid(), (0, 7)).unwrap();
    assert_eq!(living.join().unwrap(), 7);
}

/// A future takes no message at that time. A failure: the interval goes on for ever.
#[test]
fn no_message_at_a_time_to_a_future() {
    let (clock, timers) = fake();
    let scheduler = scheduler(1);
    let future = scheduler.spawn(std::future::pending::<()>()).unwrap();
    timers
        .send_at(timers.now() + SECOND, &scheduler, future.pid(), (0, 9))
        .unwrap();
    timers
        .interval(SECOND, &scheduler, future.pid(), || (0, 1))
        .unwrap();
    assert_eq!(timers.pending(), 2);
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 0);
    assert_eq!(scheduler.info(future.pid()).unwrap().messages, 0);
}
