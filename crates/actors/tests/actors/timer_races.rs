//! Processes' timers against other threads, futures, and the end.

use std::sync::Arc;
use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::timers::{Timers, TimersClosed};
use filch_scheduler::{Completion, JoinError, ProcessError, Scheduler};

use crate::common::{Command, Test, assert_terminated, scheduler, start};
use crate::timers::{SECOND, asked, failure, fake};

/// One thread moves the clock past deadlines, the other completes: exactly one answers, and the
/// process gets that answer.
#[test]
fn completing_races_with_the_deadline() {
    const ROUNDS: u64 = 500;
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    for round in 0..ROUNDS {
        let (process, completion) = asked(&scheduler);
        let bounded = timers.deadline(timers.now() + SECOND, completion, "late".to_owned());
        let answered = std::thread::scope(|scope| {
            let moving = scope.spawn(|| clock.advance(SECOND));
            let answered = bounded.take().map(|completion| completion.complete(round));
            moving.join().unwrap();
            answered
        });
        match answered {
            Some(()) => assert_eq!(process.join().unwrap(), round),
            None => assert_eq!(failure(process), "late"),
        }
    }
    assert_eq!(timers.pending(), 0);
}

#[test]
fn a_shutdown_drops_what_is_pending_and_what_comes_later() {
    for timers in [Timers::new().unwrap(), fake().1] {
        let scheduler = scheduler(2);
        let (process, completion) = asked(&scheduler);
        let payload = Arc::new(());
        timers.complete_after(3600 * SECOND, completion, 5);
        timers.call_after(3600 * SECOND, {
            let payload = Arc::clone(&payload);
            move || drop(payload)
        });
        let sleeper = scheduler.spawn(timers.sleep(3600 * SECOND)).unwrap();
        timers.block_until(3);
        timers.shutdown();
        assert!(failure(process).contains("without completing"));
        assert_eq!(sleeper.join().unwrap(), Err(TimersClosed));
        assert_eq!(Arc::strong_count(&payload), 1);

        let (process, completion) = asked(&scheduler);
        let key = timers.complete_after(SECOND, completion, 5);
        assert!(failure(process).contains("without completing"));
        assert!(!timers.cancel(key));
        let sleeper = scheduler.spawn(timers.sleep(SECOND)).unwrap();
        assert_eq!(sleeper.join().unwrap(), Err(TimersClosed));
        timers.block_until(1); // says at once that it never will be
        timers.shutdown();
    }
}

/// A command whose deadline is dropped does not wait for ever for an answer that never comes.
#[test]
fn a_deadline_that_a_shutdown_drops_is_heard_of() {
    let (_, timers) = fake();
    let scheduler = scheduler(2);
    let (process, completion) = asked(&scheduler);
    let before = timers.deadline(timers.now() + SECOND, completion, "late".to_owned());
    timers.shutdown();
    assert!(failure(process).contains("without completing"));
    let (process, completion) = asked(&scheduler);
    let after = timers.deadline(timers.now() + SECOND, completion, "late".to_owned());
    assert!(failure(process).contains("without completing"));
    for bounded in [before, after] {
        assert!(bounded.take().is_none());
    }
}

#[test]
fn futures_sleep() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let sleeper = {
        let timers = timers.clone();
        scheduler.spawn(async move {
            timers.sleep(SECOND).await?;
            timers.sleep(SECOND).await?;
            Ok::<_, TimersClosed>(7)
        })
    };
    let sleeper = sleeper.unwrap();
    timers.block_until(1);
    clock.advance(SECOND);
    timers.block_until(1);
    assert!(!sleeper.has_ended());
    clock.advance(SECOND);
    assert_eq!(sleeper.join().unwrap(), Ok(7));

    let sleeper = scheduler.spawn(timers.sleep(SECOND)).unwrap();
    timers.block_until(1);
    sleeper.abort();
    assert_terminated(sleeper.join());
    assert_eq!(timers.pending(), 0, "a dropped sleep cancels its timer");
    assert_eq!(
        scheduler
            .spawn(timers.sleep(Duration::ZERO))
            .unwrap()
            .join()
            .unwrap(),
        Ok(())
    );
}

#[test]
fn timers_do_not_outlive_a_scheduler_whose_handler_holds_them() {
    let (clock, timers) = fake();
    let scheduler = Scheduler::<Test>::builder()
        .workers(1)
        .handler({
            let timers = timers.clone();
            move |_: Command, completion: Completion<Test>| {
                timers.complete_after(SECOND, completion, 3);
            }
        })
        .build()
        .unwrap();
    let sleeping = start(&scheduler, |_, events, out| {
        if events.is_empty() {
            out.yield_command(0, Command::Echo(1));
        }
        out.idle();
    });
    timers.block_until(1);
    drop(scheduler);
    assert!(matches!(
        sleeping.join(),
        Err(JoinError::Process(ProcessError::ShutDown))
    ));
    // Its command is still pending, though nothing waits for it any more.
    assert_eq!(timers.pending(), 1);
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 0);
}
