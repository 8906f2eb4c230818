//! The deque of what a thread has forked.

use std::ptr::NonNull;

use filch_deque::{Request, Steal, Stealer};

use super::job_ref::{Job, JobRef};

/// What a thread has forked, in nested order: only [`join`](super::forked::join) puts a job in, and
/// takes it back or waits for its thief before it returns.
pub(crate) struct Forks<W: 'static>(pub(super) filch_deque::Worker<Entry<W>>);

/// The thieves' end of [`Forks`].
pub(crate) struct ForksStealer<W: 'static>(Stealer<Entry<W>>);

/// The address of a job. A thief gets it with the job; the owner takes the job back without
/// reading it.
pub(crate) struct Entry<W: 'static>(pub(super) NonNull<Job<W>>);

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
        Self(filch_deque::Worker::biased(capacity))
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

    /// Puts all in reach of thieves, for a thread that will not fork or join for a while.
    pub(crate) fn share(&self) {
        self.0.share();
    }

    /// Whether a thread has asked for a job since this was last called.
    pub(crate) fn was_asked(&self) -> bool {
        self.0.was_asked()
    }
}

impl<W> ForksStealer<W> {
    /// The oldest job, if `accept` says so of the index where it lies: see
    /// [`steal_if`](Stealer::steal_if).
    pub(crate) fn steal_if(&self, accept: impl FnOnce(u32) -> bool) -> Steal<JobRef<W>> {
        // SAFETY: `join` makes an entry of a job, which it does not leave before the thief, who has
        // the only one, has run it.
        let have = |entry: Entry<W>| unsafe { JobRef::new(entry.0) };
        self.0.steal_if(accept).map(have)
    }

    /// Has the owner take the long way at its next fork or join, and share what it has.
    pub(crate) fn ask(&self) -> Option<Request<'_, Entry<W>>> {
        self.0.ask()
    }

    /// Whether the owner keeps nothing to itself.
    pub(crate) fn is_shared(&self) -> bool {
        self.0.is_shared()
    }

    /// Whether there is nothing, as far as the calling thread can know.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
