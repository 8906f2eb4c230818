//! The deque of what a thread has forked.

use std::ptr::NonNull;

use filch_deque::{Lazy, Steal, Stealer};

use super::head::Head;
use super::job_ref::JobRef;

/// What a thread has forked, in nested order: only [`join`](super::forked::join) puts a job in, and
/// takes it back or waits for its thief before it returns.
pub(crate) struct Forks<W: 'static>(pub(super) filch_deque::Worker<Entry<W>, Lazy>);

/// The thieves' end of [`Forks`].
pub(crate) struct ForksStealer<W: 'static>(Stealer<Entry<W>>);

/// The address of a job. A thief gets it with the job; the owner takes the job back without
/// reading it.
pub(super) struct Entry<W: 'static>(pub(super) NonNull<Head<W>>);

impl<W> Clone for Entry<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Entry<W> {}

// SAFETY: whoever gets it has the job, which may change threads (contract of `JobRef`).
unsafe impl<W> Send for Entry<W> {}

impl<W> Forks<W> {
    /// Nothing is forked. There is room for so many jobs before it grows.
    pub(crate) fn new(capacity: usize) -> Self {
        // SAFETY: `join` has put it in and does not leave it; it is private until this returns.
        let prepare = |entry: &Entry<W>| unsafe { entry.0.as_ref().prepare() };
        Self(filch_deque::Worker::lazy(capacity).prepared_by(prepare))
    }

    /// So many of them are private at most: see
    /// [`with_max_private`](filch_deque::Worker::with_max_private).
    pub(crate) fn with_max_private(self, jobs: u32) -> Self {
        Self(self.0.with_max_private(jobs))
    }

    pub(crate) fn stealer(&self) -> ForksStealer<W> {
        ForksStealer(self.0.stealer())
    }

    /// Where the next job will lie.
    #[inline(always)]
    pub(crate) fn position(&self) -> u64 {
        self.0.position()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes all of them public.
    pub(crate) fn flush(&self) {
        self.0.flush();
    }

    /// Whether jobs have become public since this was last asked.
    pub(crate) fn has_published(&self) -> bool {
        self.0.has_published()
    }
}

impl<W> ForksStealer<W> {
    /// The oldest job, if `accept` says so of the index where it lies: see
    /// [`steal_if`](Stealer::steal_if).
    pub(crate) fn steal_if(&self, accept: impl FnOnce(u32) -> bool) -> Steal<JobRef<W>> {
        // SAFETY: `join` makes an entry of a job, which it does not leave before the thief, who has
        // the only one, has run it.
        let have = |entry: Entry<W>| unsafe { JobRef::new(entry.0.cast()) };
        self.0.steal_if(accept).map(have)
    }

    /// Has the owner take the long way at its next fork or join.
    pub(crate) fn interrupt(&self) {
        self.0.interrupt();
    }

    /// Asks the owner for a job. Whether there is none to steal.
    pub(crate) fn demand(&self) -> bool {
        self.0.demand()
    }
}
