//! Counters and flags of the accounts.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A number that any thread changes.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicI64);

impl Count {
    pub(crate) const fn new() -> Self {
        Self(AtomicI64::new(0))
    }

    /// Adds to it; returns the value before.
    pub(crate) fn add(&self, by: i64) -> i64 {
        // ORDERING: Relaxed, here and below, on purpose: the accounts order nothing, or they would
        // hide what is not ordered in the code under test.
        self.0.fetch_add(by, Ordering::Relaxed)
    }

    pub(crate) fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A flag that any thread changes.
#[derive(Debug, Default)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    /// Raises it; returns true if it was up before.
    pub(crate) fn raise(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn lower(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    pub(crate) fn is_up(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Locks. Panics are common here, and none of them leaves the accounts half-written.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
