//! Counts for people.

use filch_sync::atomic::{AtomicU64, Ordering};

/// A count that one thread changes, and any may read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds one. Only the thread that owns the count calls this.
    pub(crate) fn add_one(&self) {
        // ORDERING: Relaxed: for people, and nobody else changes it.
        let counted = self.0.load(Ordering::Relaxed) + 1;
        // ORDERING: as above.
        self.0.store(counted, Ordering::Relaxed);
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
}
