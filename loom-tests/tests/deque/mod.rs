//! The deque: each item is taken once, by the owner or by a thief, in the order that each was
//! promised.
//!
//! Items carry their identity. A thief starts before the owner pushes, so that it learns of an item
//! through the deque's edges and not through `spawn`. Ring slots are loom cells: an access without
//! an edge fails the model with "Causality violation".
//!
//! `claims` and `rings` are about a deque that is always shared; the other files are about one that
//! is biased towards its owner until a thief asks or insists.
//!
//! A [`Crossing`](filch_models::Crossing) in a model is for loom, to which a thief's look at `top`
//! hides the owner's.

mod biased;
mod biased_rings;
mod claims;
mod nested;
mod owner;
mod rings;
mod sleep;
mod sleepers;

use std::cell::Cell;
use std::thread::LocalKey;

use filch_deque::{Request, Steal, Stealer, Worker};
use filch_sync::asymmetric::{REFUSED, WITHOUT_LIGHT};
use filch_sync::thread::{self, JoinHandle};

/// A property of a model's fences, for as long as this lives.
struct Fences(&'static LocalKey<Cell<bool>>);

impl Fences {
    fn are(property: &'static LocalKey<Cell<bool>>) -> Self {
        property.set(true);
        Self(property)
    }
}

impl Drop for Fences {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// Leaves out the owner's light fences: they are for thieves that insist, and no thread of the
/// model does.
fn in_peace() -> Fences {
    Fences::are(&WITHOUT_LIGHT)
}

/// Has the system refuse heavy fences.
fn refused() -> Fences {
    Fences::are(&REFUSED)
}

/// Starts a thief that makes `attempts` attempts, and returns what it got, in order.
fn thief(stealer: Stealer<u32>, attempts: usize) -> JoinHandle<Vec<u32>> {
    thief_that_pauses(stealer, attempts, |_| ())
}

/// Starts a thief that insists before each attempt.
fn insistent_thief(stealer: Stealer<u32>, attempts: usize) -> JoinHandle<Vec<u32>> {
    thief_that_pauses(stealer, attempts, |stealer| {
        insist(stealer);
    })
}

fn thief_that_pauses(
    stealer: Stealer<u32>,
    attempts: usize,
    pause: impl Fn(&Stealer<u32>) + Send + 'static,
) -> JoinHandle<Vec<u32>> {
    thread::spawn(move || {
        let attempt = |_| {
            pause(&stealer);
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

/// An empty deque that is its owner's, and of which nothing is to be told. `item` has been in it.
fn biased_after<T>(capacity: usize, start: u32, item: T) -> Worker<T> {
    let worker = Worker::starting_at(capacity, start, true);
    worker.push(item);
    assert!(worker.was_asked());
    assert!(worker.pop().is_some(), "and no thief was there");
    worker
}

fn biased(capacity: usize) -> Worker<u32> {
    biased_after(capacity, 0, 9)
}

/// Makes the deque shared, by a heavy fence if it is not. Returns whether it needed one.
fn insist<T>(stealer: &Stealer<T>) -> bool {
    let Some(request) = stealer.ask() else {
        return false;
    };
    Request::revoke_all(&[request]).unwrap();
    true
}

/// Tries until no race is lost. The thread that came first has its turn in between.
fn steal_surely<T>(stealer: &Stealer<T>) -> Steal<T> {
    loop {
        match stealer.steal() {
            Steal::Retry => thread::yield_now(),
            answer => return answer,
        }
    }
}

fn drain(worker: &Worker<u32>) -> Vec<u32> {
    std::iter::from_fn(|| worker.pop()).collect()
}

/// Takes what is left when no thief is about. The deque's invariants hold before and after.
fn rest(worker: &Worker<u32>) -> Vec<u32> {
    worker.assert_invariants();
    let left = drain(worker);
    worker.assert_invariants();
    left
}

/// The owner pushes the items `0..count` beside a thief that makes `attempts`. Returns what the
/// thief got: items in order, and each item has one taker.
fn push_beside_a_thief(worker: &Worker<u32>, count: u32, attempts: usize) -> Vec<u32> {
    push_beside(worker, count, thief(worker.stealer(), attempts))
}

/// The same beside that thief.
fn push_beside(worker: &Worker<u32>, count: u32, thief: JoinHandle<Vec<u32>>) -> Vec<u32> {
    for item in 0..count {
        worker.push(item);
    }
    let stolen = thief.join().unwrap();
    assert_ascending(&stolen);
    assert_each_once(count, &[&stolen, &rest(worker)]);
    stolen
}

/// The same, and the owner pops after the second push and after the last.
fn push_and_pop(worker: &Worker<u32>, count: u32, thief: JoinHandle<Vec<u32>>) -> Vec<u32> {
    let mut own = Vec::new();
    for item in 0..count {
        worker.push(item);
        if item == 1 || item == count - 1 {
            own.extend(worker.pop());
        }
    }
    let stolen = thief.join().unwrap();
    assert_ascending(&stolen);
    assert_each_once(count, &[&own, &stolen, &rest(worker)]);
    stolen
}

/// The owner pops all of the items `0..count` beside `thief`. Returns what that got, in order.
fn pop_all_beside(worker: &Worker<u32>, count: u32, thief: JoinHandle<Vec<u32>>) -> Vec<u32> {
    let own = drain(worker);
    let stolen = thief.join().unwrap();
    worker.assert_invariants();
    assert_ascending(&stolen);
    assert_each_once(count, &[&own, &stolen]);
    stolen
}

/// The owner pushes three items, with a pause after each, and pops them all, beside `thief`.
/// Returns what the thief got: the oldest items in order. The owner gets the youngest, backwards.
fn share_three_items(
    worker: &Worker<u32>,
    thief: JoinHandle<Vec<u32>>,
    pause: impl Fn(),
) -> Vec<u32> {
    for item in 0..3 {
        worker.push(item);
        pause();
    }
    let own = drain(worker);
    let stolen = thief.join().unwrap();
    worker.assert_invariants();
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
