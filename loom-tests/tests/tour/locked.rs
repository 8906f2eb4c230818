//! Stage 1: a lock around a queue with two ends.

use std::collections::VecDeque;

use filch_models::{Bound, beside};
use filch_sync::{Arc, Mutex, lock};

use super::assert_each_once;

// ANCHOR: deque
struct Locked(Mutex<VecDeque<u32>>);

impl Locked {
    fn push(&self, item: u32) {
        lock(&self.0).push_back(item);
    }

    fn pop(&self) -> Option<u32> {
        lock(&self.0).pop_back()
    }

    /// Takes the older half.
    fn steal(&self) -> Vec<u32> {
        let mut items = lock(&self.0);
        let half = items.len().div_ceil(2);
        items.drain(..half).collect()
    }
}
// ANCHOR_END: deque

/// The owner pushes three items and pops what is left; a thief steals twice.
fn race(steal: fn(&Locked) -> Vec<u32>) {
    let deque = Arc::new(Locked(Mutex::new(VecDeque::new())));
    let thief = beside(&deque, move |deque| [steal(deque), steal(deque)].concat());
    (0..3).for_each(|item| deque.push(item));
    let own: Vec<_> = std::iter::from_fn(|| deque.pop()).collect();
    assert_each_once(3, own.into_iter().chain(thief.join().unwrap()));
}

#[test]
fn stage_1_a_lock_is_sound() {
    Bound::exhaustive(100).check("tour 1: a lock", || race(Locked::steal));
}

/// A thief that does not wait for the lock takes nothing where it would have had to.
#[test]
fn exercise_1_a_thief_may_give_up() {
    Bound::exhaustive(100).check("tour 1: a thief that gives up", || {
        race(|deque| match deque.0.try_lock() {
            Ok(mut items) => items.pop_front().into_iter().collect(),
            Err(_) => Vec::new(),
        });
    });
}
