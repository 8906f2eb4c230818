//! Other findings of an exploration than races, and its messages.

use std::collections::BTreeSet;
use std::time::Duration;

use filch_actors::timers::Timers;
use filch_scheduler::{
    Completion, Event, Events, Pid, Process, Protocol, Scheduler, StepOutput, from_fn,
};
use filch_testing::sync::atomic::{AtomicUsize, Ordering};
use filch_testing::sync::{Arc, Mutex, lock};
use filch_testing::{Exploration, FakeClock, IS_SYSTEMATIC, Seed, explore, thread, wait_for_end};

enum Numbers {}

impl Protocol for Numbers {
    type Input = ();
    type Message = u64;
    type Command = Duration;
    type Reply = u64;
    type Output = u64;
    type Error = String;
}

fn scheduler() -> Scheduler<Numbers> {
    Scheduler::builder().workers(2).build().unwrap()
}

/// A process that waits for a message before it sends one.
fn polite(other: Option<Pid>) -> impl Process<Numbers> {
    from_fn(move |context, events, out: &mut StepOutput<Numbers>| {
        for event in events {
            if let (Event::Message(number), Some(other)) = (event, other) {
                let _ = context.send(other, number);
                out.done(number);
            }
        }
        Ok(())
    })
}

/// A failure: it hangs, or does not say what each process waits for.
#[test]
fn a_deadlock_says_what_each_process_waits_for() {
    let test = || {
        let scheduler = scheduler();
        let first = scheduler.submit(polite(None), "run", ());
        let first = first.unwrap();
        let second = scheduler.submit(polite(Some(first.pid())), "run", ());
        wait_for_end(&scheduler, second.unwrap().pid());
    };
    let failure = Exploration::new(20).find(test).unwrap_err();
    let message = failure.message();
    assert!(
        message.contains("never ends: processes that wait: 2;"),
        "{message}"
    );
    assert_eq!(failure.passed(), 0);
}

/// A thread waits for a process that waits for it.
#[test]
fn a_deadlock_without_a_word_is_found() {
    if !IS_SYSTEMATIC {
        return;
    }
    let failure = Exploration::new(2).find(|| {
        let scheduler = scheduler();
        let process = scheduler.submit(polite(None), "run", ());
        let _ = process.unwrap().join();
    });
    let failure = failure.unwrap_err();
    assert!(failure.message().contains("deadlock"), "{failure}");
}

/// A failure: it never ends.
#[test]
fn a_process_that_never_ends_takes_too_many_steps() {
    if !IS_SYSTEMATIC {
        return;
    }
    let exploration = Exploration::new(2).steps(20_000);
    let failure = exploration.find(|| {
        let scheduler = scheduler();
        let process = from_fn(|_, _, out: &mut StepOutput<Numbers>| {
            out.go_on();
            Ok(())
        });
        let process = scheduler.submit(process, "run", ()).unwrap();
        let _ = process.join();
    });
    let failure = failure.unwrap_err();
    assert!(failure.message().contains("20000"), "{failure}");
}

/// A panic of a process is its error. A failure: another message than its own.
#[test]
fn a_process_that_panics_fails_the_test_by_its_exit() {
    let failure = Exploration::new(4).find(|| {
        let scheduler = scheduler();
        let process = from_fn(|_, _, _: &mut StepOutput<Numbers>| panic!("the plate is broken"));
        let process = scheduler.submit(process, "run", ()).unwrap();
        process.join().unwrap();
    });
    let failure = failure.unwrap_err();
    assert!(
        failure.message().contains("the plate is broken"),
        "{failure}"
    );
}

// ANCHOR: clock
/// Time passes when the test moves it. A failure: a process is told too early, or not at all.
#[test]
fn a_fake_clock_is_moved_in_each_schedule() {
    explore(40, || {
        let clock = FakeClock::new();
        let timers = Timers::with_clock(clock.clone()).unwrap();
        let sleeps = move |time: Duration, completion: Completion<Numbers>| {
            timers.complete_after(time, completion, 7).unwrap();
        };
        let scheduler = Scheduler::<Numbers>::builder().workers(2).handler(sleeps);
        let scheduler = scheduler.build().unwrap();
        let mut asked = false;
        let sleeper = from_fn(
            move |_, events: Events<'_, Numbers>, out: &mut StepOutput<_>| {
                if !std::mem::replace(&mut asked, true) {
                    out.yield_command(1, Duration::from_secs(60));
                }
                out.wait();
                for event in events {
                    if let Event::Completed { result, .. } = event {
                        out.done(result.map_err(|error| error.to_string())?);
                    }
                }
                Ok(())
            },
        );
        let sleeper = scheduler.submit(sleeper, "run", ()).unwrap();
        clock.block_until(1);
        clock.advance(Duration::from_secs(59));
        assert!(!sleeper.has_ended());
        clock.advance(Duration::from_secs(1));
        wait_for_end(&scheduler, sleeper.pid());
        assert_eq!(sleeper.join().unwrap(), 7);
        scheduler.shutdown(Duration::MAX).unwrap();
    });
}
// ANCHOR_END: clock

/// The threads, locks and atomics of the test are the checker's. A failure: all schedules have the
/// same outcome.
#[test]
fn what_a_test_shares_is_explored() {
    let (gives, outcomes) = std::sync::mpsc::channel();
    explore(60, move || {
        let count = Arc::new((AtomicUsize::new(0), Mutex::new(0)));
        let threads = [(); 2].map(|()| {
            let count = Arc::clone(&count);
            thread::spawn(move || {
                // ORDERING: Relaxed: the race is about interleaving alone.
                let before = count.0.load(Ordering::Relaxed);
                thread::yield_now();
                // ORDERING: Relaxed: as above.
                count.0.store(before + 1, Ordering::Relaxed);
                *lock(&count.1) += 1;
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(*lock(&count.1), 2);
        // ORDERING: Relaxed: the threads have been joined.
        gives.send(count.0.load(Ordering::Relaxed)).unwrap();
    });
    let outcomes: BTreeSet<_> = outcomes.try_iter().collect();
    assert!(
        !IS_SYSTEMATIC || outcomes == BTreeSet::from([1, 2]),
        "{outcomes:?}"
    );
}

#[test]
fn seeds_are_read_as_they_are_printed() {
    for text in ["random:0", "pct:18446744073709551615"] {
        assert_eq!(text.parse::<Seed>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "17",
        "random",
        "random:",
        "random:-1",
        "pct:1:2",
        "PCT:1",
    ] {
        assert_eq!(text.parse::<Seed>().unwrap_err().0, text);
    }
}
