//! Tests of the queue alone: no thread, and no clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Action, Due, Owner, Queue, While, after};

const SECOND: Duration = Duration::from_secs(1);

fn every_second() -> Action {
    Action::Every(SECOND, Box::new(|| true))
}

#[test]
fn missed_turns_of_an_interval_are_left_out() {
    let start = Instant::now();
    for (late, turn) in [(0, 1), (999, 1), (1_000, 2), (5_400, 6)] {
        let mut queue = Queue::default();
        queue.insert(start, Owner::NONE, every_second());
        let now = start + Duration::from_millis(late);
        let Due { key, action, .. } = queue.pop_due(now).unwrap();
        assert_eq!(queue.len(), 1, "it is pending while it fires");
        assert_eq!(queue.next(), None, "and not due");
        assert!(queue.again(key, SECOND, action, now).is_ok());
        assert_eq!(queue.next(), Some(start + turn * SECOND), "{late} ms late");
    }
}

#[test]
fn the_shortest_period_leads_past_now_as_well() {
    let (start, nanosecond) = (Instant::now(), Duration::from_nanos(1));
    let now = start + 5 * nanosecond;
    let mut queue = Queue::default();
    queue.insert(start, Owner::NONE, every_second());
    let Due { key, action, .. } = queue.pop_due(now).unwrap();
    assert!(queue.again(key, nanosecond, action, now).is_ok());
    assert_eq!(queue.next(), Some(now + nanosecond));
}

#[test]
fn what_the_clock_cannot_express_is_thirty_years_away() {
    let now = Instant::now();
    let years = 30 * 365 * 24 * 3600 * SECOND;
    assert_eq!(after(now, Duration::MAX), now + years);
}

#[test]
fn a_cancelled_timer_is_not_the_next() {
    let start = Instant::now();
    let mut queue = Queue::default();
    let [first, second] =
        [SECOND, 2 * SECOND].map(|delay| queue.insert(start + delay, Owner::NONE, every_second()));
    assert!(queue.cancel(first).is_some());
    assert_eq!(queue.next(), Some(start + 2 * SECOND));
    assert!(queue.cancel(second).is_some());
    assert_eq!((queue.len(), queue.next()), (0, None));
}

#[test]
fn an_owner_is_noted_once() {
    let mut queue = Queue::default();
    for owner in [Owner(1), Owner::NONE, Owner(2), Owner(1)] {
        queue.insert(Instant::now(), owner, every_second());
    }
    assert_eq!(queue.served, [Owner(1), Owner(2)]);
}

#[test]
fn an_interval_cancelled_while_it_fires_does_not_come_back() {
    let start = Instant::now();
    let mut queue = Queue::default();
    let key = queue.insert(start, Owner::NONE, every_second());
    let due = queue.pop_due(start).unwrap();
    let (fired, action) = (due.key, due.action);
    assert_eq!(fired, key);
    assert!(queue.cancel(key).is_some());
    assert!(queue.again(key, SECOND, action, start).is_err());
    assert_eq!((queue.len(), queue.next()), (0, None));
}

#[test]
fn nothing_enters_a_closed_queue() {
    let start = Instant::now();
    let mut queue = Queue::default();
    queue.insert(start, Owner::NONE, every_second());
    assert!(!queue.is_closed());
    assert_eq!(queue.close().len(), 1);
    assert!(queue.is_closed());
    assert_eq!(queue.next(), None);
    assert!(queue.pop_due(start).is_none());
}

/// A call that is wanted while the flag is set.
struct Flagged(Arc<AtomicBool>);

impl While for Flagged {
    fn is_wanted(&self) -> bool {
        // ORDERING: Relaxed: there is one thread.
        self.0.load(Ordering::Relaxed)
    }

    fn call(self: Box<Self>) {}
}

#[test]
fn a_sweep_looks_at_one_after_the_other_and_around() {
    let start = Instant::now();
    let mut queue = Queue::default();
    assert!(queue.sweep().is_none());
    let flags = [true, false, true].map(AtomicBool::new).map(Arc::new);
    for flag in &flags {
        let action = Action::While(Box::new(Flagged(Arc::clone(flag))));
        queue.insert(start, Owner::NONE, action);
    }
    queue.insert(start, Owner::NONE, every_second());
    let round = |queue: &mut Queue| [(); 5].map(|()| queue.sweep().is_some());
    // The last one of each round finds the end.
    assert_eq!(round(&mut queue), [false, true, false, false, false]);
    // ORDERING: Relaxed: there is one thread.
    flags[0].store(false, Ordering::Relaxed);
    assert_eq!(round(&mut queue)[..2], [true, false]);
    assert_eq!((queue.len(), queue.order.len()), (2, 2));
}

#[test]
fn of_those_that_nobody_wants_few_stay() {
    let start = Instant::now();
    let mut queue = Queue::default();
    let insert = |queue: &mut Queue, is_wanted| {
        let flag = Arc::new(AtomicBool::new(is_wanted));
        let action = Action::While(Box::new(Flagged(Arc::clone(&flag))));
        queue.insert(start, Owner::NONE, action);
        flag
    };
    let wanted: Vec<_> = (0..100).map(|_| insert(&mut queue, true)).collect();
    let most_of_many = |queue: &mut Queue| {
        let lengths = (0..10_000).map(|_| {
            drop([queue.sweep(), queue.sweep()]);
            insert(queue, false);
            queue.len()
        });
        lengths.max()
    };
    assert!(most_of_many(&mut queue) < Some(400));
    for flag in &wanted {
        // ORDERING: Relaxed: there is one thread.
        flag.store(false, Ordering::Relaxed);
    }
    most_of_many(&mut queue);
    assert!(queue.len() < 10, "{}", queue.len());
}

/// Each of two owners is told of its own timers, and of those without an owner.
#[test]
fn each_owner_is_told_what_may_wake_it() {
    let start = Instant::now();
    let (one, other) = (Owner(1), Owner(2));
    let told = |queue: &Queue, owner| queue.pending_for(owner, &|_| false);
    let once = || Action::Once(Box::new(|| ()));
    let mut queue = Queue::default();
    for (turns, owner) in [(3, one), (5, Owner::NONE), (4, one)] {
        queue.insert(start + turns * SECOND, owner, once());
    }
    assert_eq!(told(&queue, one), (3, Some(start + 3 * SECOND)));
    assert_eq!(told(&queue, other), (0, None), "never served here");
    let due = queue.pop_due(start + 3 * SECOND).unwrap();
    assert_eq!(told(&queue, one), (3, None), "it is being called");
    queue.fired(due.owner);
    assert_eq!(told(&queue, one), (2, Some(start + 4 * SECOND)));
    queue.insert(start, other, every_second());
    assert_eq!(told(&queue, other), (2, Some(start)));
    let due = queue.pop_due(start).unwrap();
    assert_eq!(told(&queue, other), (2, None));
    let again = queue.again(due.key, SECOND, due.action, start);
    queue.fired(due.owner);
    assert!(again.is_ok());
    assert_eq!(told(&queue, other), (2, Some(start + SECOND)));
    let sleep = Action::Wake(std::task::Waker::noop().clone());
    queue.insert(start, Owner::NONE, sleep);
    assert_eq!(
        told(&queue, other),
        (2, Some(start + SECOND)),
        "no waker of its"
    );
    assert_eq!(queue.pending_for(other, &|_| true), (3, Some(start)));
}
