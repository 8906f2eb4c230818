//! Features beside the steps: calls at the end, children as commands, names, and timers on a clock
//! that a test moves.

use std::time::Duration;

use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex, mpsc};
use shuttle::thread;
use shuttle_tests::explore;

use super::{Closed, FOR_EVER, Note, Numbers, prompt_scheduler, scheduler, scripted, summing};
use filch_actors::RegisterError;
use filch_actors::prelude::*;
use filch_actors::timers::{FakeClock, Timers, TimersClosed};
use filch_scheduler::{Completion, Event};

const SECOND: Duration = Duration::from_secs(1);

/// `on_exit` is called while the process ends. A failure: the call never comes (a deadlock), or
/// twice.
#[test]
fn watching_races_with_the_end() {
    explore("the exit calls once", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let process = scripted(&closed, |_, _, out| out.done(4));
        let process = scheduler.submit(process, "run", ()).unwrap();
        let (give, take) = mpsc::channel();
        process.on_exit(move |exit| give.send(exit.unwrap()).unwrap());
        assert_eq!(take.recv(), Ok(4));
        assert!(take.recv().is_err(), "once");
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// A process yields two children as commands and waits for both. A failure is a deadlock: a child
/// ended, and its parent was not woken.
#[test]
fn children_are_commands() {
    explore("a child's end completes a command", 1_000, || {
        let closed = Closed::new();
        let children = closed.clone();
        let scheduler = scheduler(2, move |number, completion: Completion<Numbers>| {
            let child = scripted(&children, move |_, _, out| out.done(number));
            filch_actors::execute_for(completion, child, "run", (), |exit| {
                exit.map_err(|e| e.to_string())
            });
        });
        let (mut asked, mut left, mut sum) = (false, 2, 0);
        let parent = scripted(&closed, move |_, events, out| {
            if !std::mem::replace(&mut asked, true) {
                out.yield_command(1, 10);
                out.yield_command(2, 20);
            }
            for event in events {
                if let Event::Completed { result, .. } = event {
                    sum += result.unwrap();
                    left -= 1;
                }
            }
            if left == 0 {
                out.done(sum);
            } else {
                out.wait();
            }
        });
        assert_eq!(
            scheduler.submit(parent, "run", ()).unwrap().join().unwrap(),
            30
        );
        assert_eq!(closed.count(), 3);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// A process gets a name while it ends, and another one wants the same name. A failure: a name
/// leads to an ended process, or nobody can have it any more, or its second holder loses it when
/// the first one's slot is cleaned.
#[test]
fn a_name_races_with_the_end() {
    explore("a name leads to the living", 3_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let first = scripted(&closed, |_, _, out| out.done(1));
        let first = scheduler.submit(first, "run", ()).unwrap();
        let naming = thread::spawn({
            let (handle, pid) = (scheduler.handle(), first.pid());
            move || handle.register("name", pid)
        });
        let second = scheduler.submit(summing(&closed, 1), "run", ()).unwrap();
        let taken = scheduler.register("name", second.pid());
        let named = naming.join().unwrap();
        let dead = first.pid();
        first.join().unwrap();
        match (&taken, &named) {
            (
                Ok(()),
                Ok(()) | Err(RegisterError::NoSuchProcess(_) | RegisterError::Taken { .. }),
            )
            | (Err(RegisterError::Taken { .. }), Ok(())) => {}
            other => panic!("{other:?}"),
        }
        if taken.is_ok() {
            assert_eq!(scheduler.whereis("name"), Some(second.pid()));
        } else {
            assert_eq!(scheduler.whereis("name"), None, "{dead} has ended");
            scheduler.register("name", second.pid()).unwrap();
        }
        scheduler.send(second.pid(), Note::Number(1)).unwrap();
        second.join().unwrap();
        assert_eq!(scheduler.whereis("name"), None);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

fn fake() -> (FakeClock, Timers) {
    let clock = FakeClock::new();
    let timers = Timers::with_clock(clock.clone()).unwrap();
    (clock, timers)
}

/// One thread moves the clock, one cancels, one shuts the timers down: the timer fires once or
/// never, and a `cancel` that is first says which.
#[test]
fn a_timer_fires_or_is_cancelled() {
    explore("a timer is over in exactly one way", 3_000, || {
        let (clock, timers) = fake();
        let fired = Arc::new(AtomicUsize::new(0));
        let key = timers
            .call_after(SECOND, {
                let fired = Arc::clone(&fired);
                move || {
                    fired.fetch_add(1, Ordering::SeqCst);
                }
            })
            .unwrap();
        let moving = thread::spawn(move || clock.advance(SECOND));
        let closing = thread::spawn({
            let timers = timers.clone();
            move || timers.shutdown()
        });
        let cancelled = timers.cancel(key);
        moving.join().unwrap();
        closing.join().unwrap();
        let fired = fired.load(Ordering::SeqCst);
        assert!(fired + usize::from(cancelled) <= 1);
        assert_eq!(timers.pending(), 0);
    });
}

/// Two threads set a timer each; the test does not know the timers, only the clock, and moves it
/// when both are set. A failure is a deadlock: a registration was missed.
#[test]
fn a_clock_hears_of_every_timer() {
    explore("a waiting test is told of each timer", 2_000, || {
        let clock = FakeClock::new();
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let clock = clock.clone();
                thread::spawn(move || {
                    let timers = Timers::with_clock(clock.clone()).unwrap();
                    let (wake, woken) = mpsc::channel();
                    timers
                        .call_after(SECOND, move || wake.send(clock.elapsed()).unwrap())
                        .unwrap();
                    assert_eq!(woken.recv().unwrap(), SECOND);
                })
            })
            .collect();
        clock.block_until(2);
        clock.advance(SECOND);
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    });
}

/// A future sleeps until a moment, while the clock is moved there. A failure is a deadlock: the
/// clock moved between the look at it and the timer.
#[test]
fn a_sleep_ends_when_its_time_comes() {
    explore("a sleeper is woken", 2_000, || {
        let (scheduler, (clock, timers)) = (prompt_scheduler(2), fake());
        let sleeper = scheduler.spawn(timers.sleep_until(timers.now() + SECOND));
        clock.advance(SECOND);
        assert_eq!(sleeper.unwrap().join().unwrap(), Ok(()));
        assert_eq!(timers.pending(), 0);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// A future sleeps for ever, and the timers are shut down. A failure is a deadlock: no wake-up.
#[test]
fn a_sleep_ends_with_the_timers() {
    explore("a sleeper is told of the shutdown", 2_000, || {
        let (scheduler, (_clock, timers)) = (prompt_scheduler(2), fake());
        let sleeper = scheduler.spawn(timers.sleep(SECOND));
        timers.shutdown();
        assert_eq!(sleeper.unwrap().join().unwrap(), Err(TimersClosed));
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// The handler's thread completes a command while its deadline comes. A failure: two answers, or
/// none.
#[test]
fn a_deadline_races_with_the_answer() {
    explore("one answer", 2_000, || {
        let held: Arc<Mutex<Option<Completion<Numbers>>>> = Arc::new(Mutex::new(None));
        let (told, asked) = mpsc::channel();
        let scheduler = scheduler(1, {
            let (held, told) = (Arc::clone(&held), Mutex::new(told));
            move |_, completion| {
                *held.lock().unwrap() = Some(completion);
                told.lock().unwrap().send(()).unwrap();
            }
        });
        let (clock, timers) = fake();
        let (closed, mut yielded) = (Closed::new(), false);
        let process = scripted(&closed, move |_, mut events, out| {
            if !std::mem::replace(&mut yielded, true) {
                out.yield_command(0, 5);
            } else if let Some(Event::Completed { result, .. }) = events.pop() {
                return out.done(result.unwrap_or(0));
            }
            out.wait();
        });
        let process = scheduler.submit(process, "run", ()).unwrap();
        asked.recv().unwrap();
        let completion = held.lock().unwrap().take().unwrap();
        let bounded = timers
            .deadline(timers.now() + SECOND, completion, "late".to_owned())
            .unwrap();
        let moving = thread::spawn(move || clock.advance(SECOND));
        let answered = bounded.take();
        let answered = answered.map(|completion| completion.complete(5)).is_some();
        assert_eq!(process.join().unwrap(), if answered { 5 } else { 0 });
        moving.join().unwrap();
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}
