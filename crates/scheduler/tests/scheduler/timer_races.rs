//! Timers against other threads, the system's clock, futures, and the end.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use filch_scheduler::timers::{Alarm, Clock, Ticks, Timers, TimersClosed};
use filch_scheduler::{Completion, JoinError, ProcessError, Scheduler};

use crate::common::{Command, Test, scheduler, scripted};
use crate::timers::{SECOND, asked, failure, fake};

/// One thread moves the clock, the other cancels: every timer either fires or is cancelled.
#[test]
fn cancelling_races_with_firing() {
    const TIMERS: usize = 20_000;
    let (clock, timers) = fake();
    let fired: Arc<Vec<AtomicUsize>> = Arc::new((0..TIMERS).map(|_| AtomicUsize::new(0)).collect());
    let keys: Vec<_> = (0..TIMERS)
        .map(|number| {
            let fired = Arc::clone(&fired);
            timers.call_after(number as u32 * SECOND, move || {
                fired[number].fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    let cancelled: Vec<bool> = std::thread::scope(|scope| {
        let moving = scope.spawn(|| (0..TIMERS).for_each(|_| clock.advance(SECOND)));
        let cancelled = keys.iter().map(|&key| timers.cancel(key)).collect();
        moving.join().unwrap();
        cancelled
    });
    for (number, cancelled) in cancelled.into_iter().enumerate() {
        let fired = fired[number].load(Ordering::Relaxed);
        assert_eq!(fired, usize::from(!cancelled), "timer {number}");
    }
    assert_eq!(timers.pending(), 0);
}

/// One thread moves the clock past deadlines, the other completes: exactly one of them answers, and
/// the process hears that answer.
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
            let answered = bounded.complete(round);
            moving.join().unwrap();
            answered
        });
        match answered {
            Ok(()) => {
                assert_eq!(process.join().unwrap(), round);
            }
            Err(reply) => {
                assert_eq!(reply, round);
                assert_eq!(failure(process), "late");
            }
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

/// A command whose deadline nobody keeps does not wait for ever for one that never answers.
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
        assert_eq!(bounded.complete(7), Err(7));
    }
}

/// Says when the thread that dropped it did.
struct Farewell(mpsc::Sender<std::thread::ThreadId>);

impl Drop for Farewell {
    fn drop(&mut self) {
        let _ = self.0.send(std::thread::current().id());
    }
}

thread_local! {
    static AT_THE_END: std::cell::RefCell<Option<Farewell>> = const { std::cell::RefCell::new(None) };
}

#[test]
fn on_the_systems_clock_timers_fire_on_one_thread_which_is_joined() {
    let timers = Timers::new().unwrap();
    let (give, fired) = mpsc::channel();
    let (leave, left) = mpsc::channel();
    // Due last, and registered first: the thread must look again, or nothing is heard before the
    // hour is over.
    timers.call_after(3600 * SECOND, || panic!("it is early"));
    timers.call_after(Duration::from_millis(20), {
        let give = give.clone();
        move || give.send((2, std::thread::current().id())).unwrap()
    });
    timers.call_after(Duration::from_millis(1), move || {
        AT_THE_END.with(|slot| *slot.borrow_mut() = Some(Farewell(leave)));
        give.send((1, std::thread::current().id())).unwrap();
    });
    let (first, second) = (fired.recv().unwrap(), fired.recv().unwrap());
    assert_eq!((first.0, second.0), (1, 2));
    assert_eq!(first.1, second.1);
    assert_ne!(first.1, std::thread::current().id());
    drop(timers);
    let left = left.try_recv();
    assert_eq!(left, Ok(first.1), "its locals are gone, and so is it");
}

#[test]
fn timers_may_be_shut_down_and_dropped_by_what_they_fire() {
    let timers = Timers::new().unwrap();
    let (give, take) = mpsc::channel();
    timers.call_after(Duration::ZERO, {
        let (timers, give) = (timers.clone(), give.clone());
        move || {
            timers.shutdown();
            give.send(timers.pending()).unwrap();
        }
    });
    assert_eq!(take.recv().unwrap(), 0);

    let timers = Timers::new().unwrap();
    let (pass, passed) = mpsc::channel::<Timers>();
    timers.call_after(Duration::ZERO, move || {
        drop(passed.recv().unwrap()); // the last one
        give.send(7).unwrap();
    });
    pass.send(timers).unwrap();
    assert_eq!(take.recv().unwrap(), 7);
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
    assert!(matches!(
        sleeper.join(),
        Err(JoinError::Process(ProcessError::Terminated))
    ));
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
    let process = scripted(|_, events, out| {
        if events.is_empty() {
            out.yield_command(0, Command::Echo(1));
        }
        out.idle();
        Ok(())
    });
    let sleeping = scheduler.submit(process, "run", 0).unwrap();
    timers.block_until(1);
    drop(scheduler);
    assert!(matches!(
        sleeping.join(),
        Err(JoinError::Process(ProcessError::ShutDown))
    ));
    // Its command is still pending. Nobody wants it any more.
    assert_eq!(timers.pending(), 1);
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 0);
}

/// A clock that is moved after the first look at it, by somebody who found no timers to fire then.
struct Jumpy(Instant, AtomicUsize);

impl Clock for Jumpy {
    fn now(&self) -> Instant {
        match self.1.fetch_add(1, Ordering::Relaxed) {
            0 => self.0,
            _ => self.0 + SECOND,
        }
    }

    fn attach(&self, _: Alarm) -> Ticks {
        Ticks::ByHand
    }
}

#[test]
fn a_sleep_looks_at_the_clock_again_when_its_timer_is_set() {
    let start = Instant::now();
    let timers = Timers::with_clock(Jumpy(start, AtomicUsize::new(0))).unwrap();
    let sleep = pin!(timers.sleep_until(start + SECOND));
    let poll = sleep.poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(poll, Poll::Ready(Ok(())), "nobody would wake it");
}
