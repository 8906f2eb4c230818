//! Futures that sleep, polled by hand.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use filch_timers::{Alarm, Clock, Sleep, Ticks, Timers, TimersClosed};

use crate::{SECOND, fake};

/// Counts its wake-ups.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Woken {
    fn times(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn poll(sleep: Pin<&mut Sleep>, woken: &Arc<Woken>) -> Poll<Result<(), TimersClosed>> {
    let waker = Waker::from(Arc::clone(woken));
    sleep.poll(&mut Context::from_waker(&waker))
}

#[test]
fn a_sleep_wakes_the_last_waker_it_was_polled_with() {
    let (clock, timers) = fake();
    let (first, second) = (Arc::default(), Arc::default());
    let mut sleep = pin!(timers.sleep(SECOND));
    assert_eq!(sleep.deadline(), timers.now() + SECOND);
    assert_eq!(timers.pending(), 0, "it has not been polled");
    assert_eq!(poll(sleep.as_mut(), &first), Poll::Pending);
    assert_eq!(poll(sleep.as_mut(), &second), Poll::Pending);
    assert_eq!(timers.pending(), 1);
    assert_eq!(Arc::strong_count(&first), 1, "it is not kept");
    clock.advance(SECOND);
    assert_eq!((first.times(), second.times()), (0, 1));
    assert_eq!(poll(sleep.as_mut(), &second), Poll::Ready(Ok(())));
}

#[test]
fn a_sleep_that_is_over_when_it_begins_sets_no_timer() {
    let (clock, timers) = fake();
    let woken = Arc::default();
    assert_eq!(
        poll(pin!(timers.sleep(Duration::ZERO)), &woken),
        Poll::Ready(Ok(()))
    );
    let late = timers.sleep(SECOND);
    clock.advance(SECOND);
    assert_eq!(poll(pin!(late), &woken), Poll::Ready(Ok(())));
    assert_eq!((timers.pending(), woken.times()), (0, 0));
}

#[test]
fn a_dropped_sleep_cancels_its_timer() {
    let (_, timers) = fake();
    let woken = Arc::default();
    let mut sleep = Box::pin(timers.sleep(SECOND));
    assert_eq!(poll(sleep.as_mut(), &woken), Poll::Pending);
    drop(sleep);
    assert_eq!(timers.pending(), 0);
    assert_eq!((woken.times(), Arc::strong_count(&woken)), (0, 1));
}

#[test]
fn a_shutdown_wakes_sleepers_and_says_so() {
    for timers in [Timers::new().unwrap(), fake().1] {
        let woken = Arc::default();
        let mut sleep = pin!(timers.sleep(3600 * SECOND));
        assert_eq!(poll(sleep.as_mut(), &woken), Poll::Pending);
        timers.shutdown();
        assert_eq!(woken.times(), 1);
        assert_eq!(poll(sleep, &woken), Poll::Ready(Err(TimersClosed)));
        let late = pin!(timers.sleep(SECOND));
        assert_eq!(poll(late, &woken), Poll::Ready(Err(TimersClosed)));
    }
}

/// A clock that is moved after the first look at it, by a thread that found no timers to fire then.
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
