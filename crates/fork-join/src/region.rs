//! Which of the jobs that a thread forks belong to an isolated region.

use filch_sync::atomic::{AtomicU64, Ordering};

/// Whether the thread in a seat is in an isolated region, and from which index of its deque on. All
/// that is forked from there on belongs to it, and it does not end before that has.
#[derive(Default)]
pub(crate) struct Region(AtomicU64);

/// The thread is in one. Below it is the index.
const OPEN: u64 = 1 << 32;

impl Region {
    pub(crate) fn open(&self, index: u32) {
        // ORDERING: Relaxed: published with the jobs that are forked in it.
        self.0.store(OPEN | u64::from(index), Ordering::Relaxed);
    }

    pub(crate) fn close(&self) {
        // ORDERING: Relaxed: no thief has a job of the region any more, and what it says of older
        // jobs is the same.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Whether the job that a thief has taken from that index of the deque belongs to it.
    pub(crate) fn has(&self, index: u32) -> bool {
        // ORDERING: Relaxed: if the job does, the region was open when it was published, and is
        // open until it has ended. If not, any region that is seen begins behind it.
        let word = self.0.load(Ordering::Relaxed);
        word & OPEN != 0 && is_since(index, word as u32)
    }
}

/// Whether an index of a deque is `base`, or lies behind it. Indices wrap.
pub(crate) fn is_since(index: u32, base: u32) -> bool {
    index.wrapping_sub(base) as i32 >= 0
}
