//! What a scheduler has done, for people.

use filch_sync::atomic::{AtomicU64, Ordering};

/// What a scheduler has done. Its own thread alone changes it.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    rounds: AtomicU64,
    rests: AtomicU64,
}

impl Stats {
    /// A round of the main loop.
    pub(crate) fn count_round(&self) {
        Self::count(&self.rounds);
    }

    /// It is about to block.
    pub(crate) fn count_rest(&self) {
        Self::count(&self.rests);
    }

    pub(crate) fn rounds(&self) -> u64 {
        // ORDERING: Relaxed: for people.
        self.rounds.load(Ordering::Relaxed)
    }

    pub(crate) fn rests(&self) -> u64 {
        // ORDERING: Relaxed: for people.
        self.rests.load(Ordering::Relaxed)
    }

    fn count(counter: &AtomicU64) {
        // ORDERING: Relaxed: for people, and nobody else changes it.
        let counted = counter.load(Ordering::Relaxed) + 1;
        // ORDERING: as above.
        counter.store(counted, Ordering::Relaxed);
    }
}
