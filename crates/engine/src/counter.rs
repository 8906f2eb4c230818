//! Counts for people.

use filch_sync::atomic::{AtomicU64, Ordering};

/// A count that one thread changes, and any may read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds one. Only the thread that owns the count calls this.
    pub(crate) fn add_one(&self) {
        self.set(self.get() + 1);
    }

    /// Sets it. Only the thread that owns the count calls this.
    pub(crate) fn set(&self, count: u64) {
        // ORDERING: Relaxed: for people, and nobody else changes it.
        self.0.store(count, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // ORDERING: Relaxed: for people.
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts of a scheduler's work.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    /// Rounds of the main loop.
    pub(crate) rounds: Counter,
    /// The times that it was about to block.
    pub(crate) rests: Counter,
    /// The tasks that it has handed out.
    pub(crate) tasks: Counter,
    /// Its workers that have ended.
    pub(crate) ended: Counter,
}
