//! The cost of an injector's work without its queue.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::{FILL, MORE};
use crate::clock::{cost, per_operation, time_together};

/// A push that claims by an RMW and hands over by another, as a producer does whose slot may be
/// abandoned meanwhile; and the taker's deque; no queue.
pub(super) fn push_and_deque(fills: u64) -> impl FnMut() -> f64 {
    let (claims, state) = (AtomicU64::new(0), AtomicU64::new(0));
    let own = filch_deque::Worker::new();
    move || {
        cost(fills * FILL, || {
            for _ in 0..fills {
                push_without_queue(&claims, &state, FILL);
                deal_to_own(&own, FILL);
            }
        })
    }
}

/// The same on threads that share nothing: the work that is left when sharing is free.
pub(super) fn threads_apart(pairs: u64, items_each: u64) -> impl FnMut() -> f64 {
    move || {
        let mut tasks: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        for _ in 0..pairs {
            tasks.push(Box::new(move || {
                let words = CachePadded::new((AtomicU64::new(0), AtomicU64::new(0)));
                push_without_queue(&words.0, &words.1, items_each);
            }));
            tasks.push(Box::new(move || {
                deal_to_own(&filch_deque::Worker::new(), items_each);
            }));
        }
        per_operation(time_together(tasks), pairs * items_each)
    }
}

fn push_without_queue(claims: &AtomicU64, state: &AtomicU64, items: u64) {
    for _ in 0..items {
        black_box(claims.fetch_add(1, Ordering::AcqRel));
        black_box(state.swap(1, Ordering::AcqRel));
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
