//! The cost of an injector's work without its queue.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::{FILL, MORE};
use crate::clock::{cost, per_operation, time_together};

/// A push that claims by an RMW and hands over by `hand_over`, and the taker's deque; no queue.
pub(super) fn push_and_deque(fills: u64, hand_over: impl Fn(&AtomicU64)) -> impl FnMut() -> f64 {
    let (claims, state) = (AtomicU64::new(0), AtomicU64::new(0));
    let own = filch_deque::Worker::new();
    move || {
        cost(fills * FILL, || {
            for _ in 0..fills {
                push_without_queue(&claims, &state, FILL, &hand_over);
                deal_to_own(&own, FILL);
            }
        })
    }
}

/// The same on threads that share nothing: the work that is left when sharing is free.
pub(super) fn threads_apart(
    pairs: u64,
    items_each: u64,
    hand_over: fn(&AtomicU64),
) -> impl FnMut() -> f64 {
    move || {
        let mut tasks: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        for _ in 0..pairs {
            tasks.push(Box::new(move || {
                let words = CachePadded::new((AtomicU64::new(0), AtomicU64::new(0)));
                push_without_queue(&words.0, &words.1, items_each, hand_over);
            }));
            tasks.push(Box::new(move || {
                deal_to_own(&filch_deque::Worker::new(), items_each);
            }));
        }
        per_operation(time_together(tasks), pairs * items_each)
    }
}

fn push_without_queue(
    claims: &AtomicU64,
    state: &AtomicU64,
    items: u64,
    hand_over: impl Fn(&AtomicU64),
) {
    for _ in 0..items {
        black_box(claims.fetch_add(1, Ordering::AcqRel));
        hand_over(state);
    }
}

fn deal_to_own(own: &filch_deque::Worker<u64>, items: u64) {
    for batch in 0..items / (MORE as u64 + 1) {
        own.push_batch(batch..batch + MORE as u64);
        while let Some(item) = own.pop() {
            black_box(item);
        }
    }
}

/// Fills a slot as a producer does whose slot may be abandoned meanwhile.
pub(super) fn by_rmw(state: &AtomicU64) {
    black_box(state.swap(1, Ordering::AcqRel));
}

/// Fills a slot as a producer does that every consumer waits for.
pub(super) fn by_store(state: &AtomicU64) {
    state.store(1, Ordering::Release);
}
