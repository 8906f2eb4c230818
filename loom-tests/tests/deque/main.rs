//! The deque: each item is taken once, by the owner or by a thief, in the order that each was
//! promised.
//!
//! Items carry their identity. A thief starts before the owner pushes, so that it learns of an item
//! through the deque's edges and not through `spawn`. Ring slots are loom cells: an access without
//! an edge fails the model with "Causality violation".
//!
//! A [`Crossing`] in a model is for loom, to which a thief's look at `top` hides the owner's.
#![cfg(loom)]

mod claims;
mod lazy;
mod prepared;
mod rings;
mod sleep;

use filch_deque::{Policy, Stealer, Worker};
use filch_sync::thread::{self, JoinHandle};
use loom_tests::Crossing;

/// Starts a thief that makes `attempts` attempts, and returns what it got, in order.
fn thief(stealer: Stealer<u32>, attempts: usize) -> JoinHandle<Vec<u32>> {
    thief_that_pauses(stealer, attempts, || ())
}

/// The same, which passes the crossing before each attempt.
fn crossing_thief(
    crossing: &Crossing,
    stealer: Stealer<u32>,
    attempts: usize,
) -> JoinHandle<Vec<u32>> {
    let crossing = crossing.clone();
    thief_that_pauses(stealer, attempts, move || crossing.pass())
}

fn thief_that_pauses(
    stealer: Stealer<u32>,
    attempts: usize,
    pause: impl Fn() + Send + 'static,
) -> JoinHandle<Vec<u32>> {
    thread::spawn(move || {
        let attempt = |_| {
            pause();
            stealer.steal().success()
        };
        (0..attempts).filter_map(attempt).collect()
    })
}

/// Starts a thief that makes one attempt at half of the items, and returns them in the order in
/// which thieves of its deque would get them.
fn half_thief(stealer: Stealer<u32>, limit: usize) -> JoinHandle<Vec<u32>> {
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

/// The owner pushes the items `0..count` beside a thief that makes `attempts`. Returns what the
/// thief got: items in order, and each item has one taker.
fn push_beside_a_thief(worker: &Worker<u32, impl Policy>, count: u32, attempts: usize) -> Vec<u32> {
    let stolen = thief(worker.stealer(), attempts);
    for item in 0..count {
        worker.push(item);
    }
    let stolen = stolen.join().unwrap();
    assert_ascending(&stolen);
    assert_each_once(count, &[&stolen, &drain(worker)]);
    stolen
}

/// The owner pushes three items, with a pause after each, and pops them all, beside `thief`.
/// Returns what the thief got: the oldest items in order. The owner gets the youngest, backwards.
fn share_three_items(
    worker: &Worker<u32, impl Policy>,
    thief: JoinHandle<Vec<u32>>,
    pause: impl Fn(),
) -> Vec<u32> {
    for item in 0..3 {
        worker.push(item);
        pause();
    }
    let own = drain(worker);
    let stolen = thief.join().unwrap();
    assert_each_once(3, &[&own, &stolen]);
    assert_ascending(&stolen);
    assert_descending(&own);
    stolen
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

fn assert_descending(items: &[u32]) {
    assert!(
        items.is_sorted_by(|a, b| a > b),
        "the owner's order: {items:?}"
    );
}
