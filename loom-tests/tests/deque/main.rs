//! The deque: every item is taken once, by the owner or by a thief, in the order that each was
//! promised.
//!
//! Items carry their identity. A thief starts before the owner pushes, so that what it sees comes
//! through the deque's own edges and not through `spawn`. Ring slots are loom cells: an access
//! without an edge fails the model with "Causality violation".
#![cfg(loom)]

mod claims;
mod lazy;
mod rings;
mod sleep;

use filch_deque::{Policy, Stealer, Worker};
use filch_sync::thread;

/// Starts a thief that makes `attempts` attempts, and returns what it got, in order.
fn thief(stealer: Stealer<u32>, attempts: usize) -> thread::JoinHandle<Vec<u32>> {
    thread::spawn(move || {
        (0..attempts)
            .filter_map(|_| stealer.steal().success())
            .collect()
    })
}

/// Starts a thief that makes one attempt at half of the items, and returns them in the order in
/// which its own thieves would get them.
fn half_thief(stealer: Stealer<u32>, limit: usize) -> thread::JoinHandle<Vec<u32>> {
    thread::spawn(move || {
        let own = Worker::with_capacity(1);
        let oldest = stealer.steal_half_into(&own, limit).success();
        let others = own.stealer();
        oldest
            .into_iter()
            .chain(std::iter::from_fn(|| others.steal().success()))
            .collect()
    })
}

fn drain(worker: &Worker<u32, impl Policy>) -> Vec<u32> {
    std::iter::from_fn(|| worker.pop()).collect()
}

/// Panics unless the items `0..count` are in `parts`, each once.
fn assert_each_once(count: u32, parts: &[&[u32]]) {
    let mut all = parts.concat();
    all.sort_unstable();
    assert!(
        all.iter().copied().eq(0..count),
        "not every item exactly once: {parts:?}"
    );
}

fn assert_ascending(items: &[u32]) {
    assert!(items.is_sorted(), "a thief's order: {items:?}");
}
