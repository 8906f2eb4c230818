//! Tests of the queue alone: no thread, and no clock.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{Action, Due, Owner, Queue, TimerKey, While, after};

const SECOND: Duration = Duration::from_secs(1);

fn every_second() -> Action {
    Action::Every(SECOND, Box::new(|| true))
}

fn insert_every_second(queue: &mut Queue, deadline: Instant) -> TimerKey {
    queue.insert(deadline, Owner::NONE, every_second())
}

#[test]
fn missed_turns_of_an_interval_are_left_out() {
    let start = Instant::now();
    for (late, turn) in [(0, 1), (999, 1), (1_000, 2), (5_400, 6)] {
        let mut queue = Queue::new(start);
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
    let mut queue = Queue::new(start);
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
    let mut queue = Queue::new(start);
    let [first, second] =
        [SECOND, 2 * SECOND].map(|delay| queue.insert(start + delay, Owner::NONE, every_second()));
    assert!(queue.cancel(first).is_some());
    assert_eq!(queue.next(), Some(start + 2 * SECOND));
    assert!(queue.cancel(second).is_some());
    assert_eq!((queue.len(), queue.next()), (0, None));
}

#[test]
fn an_owner_is_noted_once() {
    let start = Instant::now();
    let mut queue = Queue::new(start);
    for owner in [Owner(1), Owner::NONE, Owner(2), Owner(1)] {
        queue.insert(start, owner, every_second());
    }
    assert_eq!(queue.served, [Owner(1), Owner(2)]);
}

/// A failure: a queue goes on into the numbers that another has taken.
#[test]
fn no_two_timers_have_one_number() {
    let start = Instant::now();
    let mut queues = [(); 2].map(|()| Queue::new(start));
    let mut numbers = BTreeSet::new();
    for _ in 0..70_000 {
        for queue in &mut queues {
            let key = insert_every_second(queue, start);
            assert!(queue.cancel(key).is_some());
            assert!(numbers.insert(key.number));
        }
    }
    let ends = numbers
        .iter()
        .filter(|&&number| !numbers.contains(&(number + 1)));
    assert!(ends.count() <= 4, "a block is used up");
}

#[test]
fn an_interval_cancelled_while_it_fires_does_not_come_back() {
    let start = Instant::now();
    let mut queue = Queue::new(start);
    let key = queue.insert(start, Owner::NONE, every_second());
    let due = queue.pop_due(start).unwrap();
    let (fired, action) = (due.key, due.action);
    assert_eq!(fired, key);
    assert!(queue.cancel(key).is_some());
    assert!(queue.again(key, SECOND, action, start).is_err());
    assert_eq!((queue.len(), queue.next()), (0, None));
}

/// A failure: the round goes on at a timer that is gone, or begins anew with each that goes.
#[test]
fn a_sweep_goes_on_behind_a_timer_that_goes() {
    let start = Instant::now();
    let mut queue = Queue::new(start);
    let looks = Arc::new(Mutex::new(Vec::new()));
    let keys = [0, 1, 2, 3].map(|number| {
        let looks = Arc::clone(&looks);
        let action = Action::While(Box::new(Noting { number, looks }));
        queue.insert(start, Owner::NONE, action)
    });
    let looked_at = |queue: &mut Queue| {
        assert!(queue.sweep().is_none());
        looks.lock().unwrap().pop()
    };
    assert_eq!(looked_at(&mut queue), Some(0));
    assert!(queue.cancel(keys[1]).is_some());
    assert_eq!(looked_at(&mut queue), Some(2));
    assert!(queue.cancel(keys[0]).is_some());
    assert_eq!(looked_at(&mut queue), Some(3));
}

/// A call that is wanted, and notes each question.
struct Noting {
    number: u32,
    looks: Arc<Mutex<Vec<u32>>>,
}

impl While for Noting {
    fn is_wanted(&self) -> bool {
        self.looks.lock().unwrap().push(self.number);
        true
    }

    fn call(self: Box<Self>) {}
}

/// A failure: it is taken out of its place in the order a second time.
#[test]
fn an_interval_cancelled_while_it_fires_leaves_its_neighbours() {
    let start = Instant::now();
    let mut queue = Queue::new(start);
    let insert = |queue: &mut Queue, seconds| insert_every_second(queue, start + seconds * SECOND);
    let [one, fired, other] = [100, 99, 101].map(|seconds| insert(&mut queue, seconds));
    assert_eq!(queue.pop_due(start + 99 * SECOND).unwrap().key, fired);
    assert!(queue.cancel(one).is_some());
    let last = insert(&mut queue, 102);
    assert!(queue.cancel(fired).is_some_and(|action| action.is_none()));
    for key in [other, last] {
        assert_eq!(queue.pop_due(start + 102 * SECOND).unwrap().key, key);
    }
}

#[test]
fn nothing_enters_a_closed_queue() {
    let start = Instant::now();
    let mut queue = Queue::new(start);
    queue.insert(start, Owner::NONE, every_second());
    assert!(!queue.is_closed());
    assert_eq!(queue.close().count(), 1);
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
    let mut queue = Queue::new(start);
    assert!(queue.sweep().is_none());
    let flags = [true, false, true].map(AtomicBool::new).map(Arc::new);
    for flag in &flags {
        let action = Action::While(Box::new(Flagged(Arc::clone(flag))));
        queue.insert(start, Owner::NONE, action);
    }
    let other = queue.insert(start, Owner::NONE, every_second());
    let round = |queue: &mut Queue| [(); 3].map(|()| queue.sweep().is_some());
    assert_eq!(round(&mut queue), [false, true, false]);
    // ORDERING: Relaxed: there is one thread.
    flags[0].store(false, Ordering::Relaxed);
    // One that is in no round goes, and the rounds stay.
    assert!(queue.cancel(other).is_some());
    assert_eq!(round(&mut queue)[..2], [true, false]);
    assert_eq!(queue.len(), 1);
}

#[test]
fn of_those_that_nobody_wants_few_stay() {
    let start = Instant::now();
    let mut queue = Queue::new(start);
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

/// The wheel beside a sorted set: delays of nothing to hours, deadlines of several timers, timers
/// that are cancelled, and looks at times between deadlines.
#[test]
fn timers_fire_in_the_order_of_deadlines_and_then_of_registration() {
    let mut state = 7_u64;
    let mut random = |bound: u64| {
        // Knuth's multiplier; the low bits are poor.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % bound
    };
    let start = Instant::now();
    for (most, cancels) in [(2, true), (20, true), (2_000, true), (2_000, false)] {
        let mut queue = Queue::new(start);
        // The most digits change soon.
        let mut now = (1 << 60) - (1 << 30);
        let (mut sorted, mut keys) = (BTreeSet::new(), Vec::new());
        for number in 0..100_000_u64 {
            if queue.len() < most && random(3) > 0 {
                let delay = (random(1 << 31) << 14) >> random(45);
                let time = keys
                    .last()
                    .map_or(now + delay, |&(_, (last, _))| match random(4) {
                        0 => now.max(last),
                        _ => now + delay,
                    });
                let deadline = start + Duration::from_nanos(time);
                let key = queue.insert(deadline, Owner::NONE, Action::Once(Box::new(|| ())));
                let place = (time, number);
                sorted.insert(place);
                keys.push((key, place));
            } else if cancels && !keys.is_empty() && random(3) == 0 {
                let (key, place) = keys.swap_remove(random(keys.len() as u64) as usize);
                assert_eq!(queue.cancel(key).is_some(), sorted.remove(&place));
            } else if let Some(&first) = sorted.first() {
                // Up to it, or to a time on the way.
                let step = (first.0 - now) >> (random(2) * random(40));
                now += step;
                let due = queue.pop_due(start + Duration::from_nanos(now));
                assert_eq!(due.is_some(), now == first.0);
                if let Some(due) = due {
                    let at = keys.iter().position(|&(key, _)| key == due.key).unwrap();
                    assert_eq!(keys.swap_remove(at).1, first);
                    sorted.pop_first();
                }
            }
            let next = sorted
                .first()
                .map(|&(time, _)| start + Duration::from_nanos(time));
            assert_eq!(queue.next().is_some(), next.is_some());
            assert!(queue.next() <= next);
            assert!(cancels || queue.next() == next, "it is exact");
            assert_eq!(queue.len(), sorted.len());
        }
    }
}

/// A failure: it is behind timers to which the wheel has come, until one of these is due.
#[test]
fn what_has_passed_is_due_where_the_wheel_stands() {
    let start = Instant::now();
    let mut queue = Queue::new(start);
    let now = start + 100 * SECOND;
    for turn in 0..20 {
        insert_every_second(&mut queue, now + turn * SECOND / 1_000);
    }
    assert!(queue.pop_due(now).is_some(), "they cascade");
    let passed = insert_every_second(&mut queue, start + SECOND);
    assert_eq!(queue.pop_due(now).map(|due| due.key), Some(passed));
}

#[test]
fn what_has_passed_is_due_at_once() {
    let start = Instant::now();
    let mut queue = Queue::new(start);
    let insert = |queue: &mut Queue, seconds| insert_every_second(queue, start + seconds * SECOND);
    let late = insert(&mut queue, 10);
    let first = insert(&mut queue, 8);
    assert_eq!(queue.pop_due(start + 9 * SECOND).unwrap().key, first);
    let passed = [3, 1].map(|seconds| insert(&mut queue, seconds));
    for _ in passed {
        let due = queue.pop_due(start + 9 * SECOND).unwrap();
        assert!(passed.contains(&due.key));
    }
    assert!(queue.pop_due(start + 9 * SECOND).is_none());
    assert_eq!(queue.pop_due(start + 10 * SECOND).unwrap().key, late);
}

#[test]
fn the_memory_of_the_most_timers_ever_is_not_kept() {
    let start = Instant::now();
    let mut queue = Queue::new(start);
    let keys: Vec<_> = (0..1_000)
        .map(|turn| queue.insert(start + turn * SECOND, Owner::NONE, every_second()))
        .collect();
    assert_eq!(queue.timers.chunks(), 16);
    for &key in &keys[1..] {
        assert!(queue.cancel(key).is_some());
    }
    assert_eq!(
        queue.timers.chunks(),
        2,
        "that of the first timer, and a spare one"
    );
    assert!(
        keys.iter()
            .all(|&key| queue.cancel(key).is_some() == (key == keys[0]))
    );
    assert_eq!(queue.timers.chunks(), 1);
}

/// Each of two owners is told of its own timers, and of those without an owner.
#[test]
fn each_owner_is_told_what_may_wake_it() {
    let start = Instant::now();
    let (one, other) = (Owner(1), Owner(2));
    let told = |queue: &Queue, owner| queue.pending_for(owner, &|_| false);
    let once = || Action::Once(Box::new(|| ()));
    let mut queue = Queue::new(start);
    for (turns, owner) in [(3, one), (5, Owner::NONE), (4, one)] {
        queue.insert(start + turns * SECOND, owner, once());
    }
    assert_eq!(told(&queue, one), (3, Some(start + 3 * SECOND)));
    assert_eq!(told(&queue, other), (0, None), "never served here");
    let due = queue.pop_due(start + 3 * SECOND).unwrap();
    assert_eq!(told(&queue, one), (3, None), "it is being called");
    queue.fired(due.owner);
    assert_eq!(told(&queue, one), (2, Some(start + 4 * SECOND)));
    let now = start + 3 * SECOND;
    queue.insert(now, other, every_second());
    assert_eq!(told(&queue, other), (2, Some(now)));
    let due = queue.pop_due(now).unwrap();
    assert_eq!(told(&queue, other), (2, None));
    let again = queue.again(due.key, SECOND, due.action, now);
    queue.fired(due.owner);
    assert!(again.is_ok());
    assert_eq!(told(&queue, other), (2, Some(now + SECOND)));
    let sleep = Action::Wake(std::task::Waker::noop().clone());
    queue.insert(now, Owner::NONE, sleep);
    assert_eq!(
        told(&queue, other),
        (2, Some(now + SECOND)),
        "no waker of its"
    );
    assert_eq!(queue.pending_for(other, &|_| true), (3, Some(now)));
}
