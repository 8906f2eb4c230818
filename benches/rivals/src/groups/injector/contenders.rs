//! The contenders, behind one trait.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hint::{self, black_box};
use std::ops::Range;
use std::sync::Mutex;

use crossbeam_queue::SegQueue;
use filch_deque::Worker;
use filch_injector::Injector as Queue;

use super::MORE;

/// An injector, as the scenarios need it.
pub(super) trait Injector: Sync + 'static {
    /// The place where a taker's batch goes, if the queue has batches.
    type Own;

    fn new() -> Self;
    fn own() -> Self::Own;
    fn push(&self, item: u64);
    /// Pushes these by one push each, unless the queue has batches for that too.
    fn push_all(&self, items: Range<u64>) {
        for item in items {
            self.push(black_box(item));
        }
    }
    /// The oldest item; up to `MORE` others go to `own`, if the queue has batches.
    fn take(&self, own: &Self::Own) -> Option<u64>;
    /// Takes the next of the batch.
    fn pop(own: &Self::Own) -> Option<u64>;
}

/// Producers have `MORE` items at a time, if they push `IN_BATCHES`.
pub(super) struct Filch<const IN_BATCHES: bool>(Queue<u64>);

impl<const IN_BATCHES: bool> Injector for Filch<IN_BATCHES> {
    type Own = Worker<u64>;

    fn new() -> Self {
        Self(Queue::new())
    }

    fn own() -> Self::Own {
        Worker::new()
    }

    fn push(&self, item: u64) {
        self.0.push(item);
    }

    fn push_all(&self, items: Range<u64>) {
        if !IN_BATCHES {
            return items.for_each(|item| self.push(black_box(item)));
        }
        for first in items.clone().step_by(MORE) {
            let batch = first..items.end.min(first + MORE as u64);
            self.0.push_batch(batch.map(black_box));
        }
    }

    fn take(&self, own: &Self::Own) -> Option<u64> {
        self.0.pop_batch_into(own, MORE)
    }

    fn pop(own: &Self::Own) -> Option<u64> {
        own.pop()
    }
}

pub(super) type Crossbeam = crossbeam_deque::Injector<u64>;

impl Injector for Crossbeam {
    type Own = crossbeam_deque::Worker<u64>;

    fn own() -> Self::Own {
        crossbeam_deque::Worker::new_lifo()
    }

    fn new() -> Self {
        Self::new()
    }

    fn push(&self, item: u64) {
        self.push(item);
    }

    fn take(&self, own: &Self::Own) -> Option<u64> {
        loop {
            match self.steal_batch_with_limit_and_pop(own, MORE + 1) {
                crossbeam_deque::Steal::Success(item) => return Some(item),
                crossbeam_deque::Steal::Empty => return None,
                crossbeam_deque::Steal::Retry => hint::spin_loop(),
            }
        }
    }

    fn pop(own: &Self::Own) -> Option<u64> {
        own.pop()
    }
}

/// A queue without batches, for reference.
impl Injector for SegQueue<u64> {
    type Own = ();

    fn own() {}

    fn new() -> Self {
        Self::new()
    }

    fn push(&self, item: u64) {
        self.push(item);
    }

    fn take(&self, (): &()) -> Option<u64> {
        self.pop()
    }

    fn pop((): &()) -> Option<u64> {
        None
    }
}

pub(super) type Locked = Mutex<VecDeque<u64>>;

/// Batches under a lock, for reference.
impl Injector for Locked {
    type Own = RefCell<Vec<u64>>;

    fn own() -> Self::Own {
        RefCell::default()
    }

    fn new() -> Self {
        Self::default()
    }

    fn push(&self, item: u64) {
        self.lock().expect("no contender panics").push_back(item);
    }

    fn take(&self, own: &Self::Own) -> Option<u64> {
        let mut queue = self.lock().expect("no contender panics");
        let first = queue.pop_front()?;
        let more = queue.len().min(MORE);
        own.borrow_mut().extend(queue.drain(..more));
        Some(first)
    }

    fn pop(own: &Self::Own) -> Option<u64> {
        own.borrow_mut().pop()
    }
}
