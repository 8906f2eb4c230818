//! Tells a thread outside a pool that the pool's tasks have all run, each of them once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};

/// A sum to which each task adds another number. The task that completes it wakes the thread that
/// waits. It costs every contender one RMW a task.
pub(crate) struct Total {
    sum: AtomicU64,
    expected: AtomicU64,
    waiter: Mutex<Option<Thread>>,
}

impl Total {
    pub(crate) const fn new() -> Self {
        Self {
            sum: AtomicU64::new(0),
            expected: AtomicU64::new(0),
            waiter: Mutex::new(None),
        }
    }

    /// Begins a new sum, for which the calling thread will [`wait`](Self::wait). Tasks that are
    /// spawned afterwards see it.
    pub(crate) fn expect(&self, sum: u64) {
        *self.waiter.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current());
        self.expected.store(sum, Ordering::Relaxed);
        self.sum.store(0, Ordering::Relaxed);
    }

    /// Adds a task's number, which is more than 0.
    pub(crate) fn add(&self, number: u64) {
        let sum = self.sum.fetch_add(number, Ordering::AcqRel) + number;
        if sum == self.expected.load(Ordering::Relaxed) {
            let waiter = self.waiter.lock().unwrap_or_else(PoisonError::into_inner);
            waiter.as_ref().expect("a thread expects the sum").unpark();
        }
    }

    /// Sleeps until the sum is complete.
    pub(crate) fn wait(&self) {
        let expected = self.expected.load(Ordering::Relaxed);
        loop {
            let sum = self.sum.load(Ordering::Acquire);
            assert!(sum <= expected, "a task ran twice");
            if sum == expected {
                return;
            }
            thread::park();
        }
    }
}

/// 1 + 2 + … + `last`.
pub(crate) fn sum_to(last: u64) -> u64 {
    last * (last + 1) / 2
}
