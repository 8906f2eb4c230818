//! Counts the copies of a task that somebody waits for, and tells when all are done.

use filch_parker::Unparker;
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};

/// The outcome of a task that somebody waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// The number of workers that ran it to its end.
    pub ran: usize,
    /// The number of workers that did not: they ended before, panicked in it, or were gone.
    pub dropped: usize,
}

/// The counts that all copies of an awaited task share.
#[derive(Debug)]
struct Counts {
    /// The living copies, and one for the sender while it sends.
    alive: AtomicUsize,
    /// All copies that were ever made.
    copies: AtomicUsize,
    ran: AtomicUsize,
    waiter: Unparker,
}

impl Counts {
    /// Counts one down, and wakes the waiter after the last.
    fn leave(&self) {
        // ORDERING: Release, for the Acquire in `poll`: what this copy did. An RMW: so do the
        // others', whose releases it continues.
        if self.alive.fetch_sub(1, Ordering::Release) == 1 {
            self.waiter.unpark();
        }
    }

    fn copy(counts: &Arc<Self>) -> Awaited {
        // ORDERING: Relaxed: the caller has one, so that the count is not 0.
        counts.alive.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Relaxed: released by `leave`.
        counts.copies.fetch_add(1, Ordering::Relaxed);
        Awaited(Arc::clone(counts))
    }
}

/// The end for the thread that waits.
#[derive(Debug)]
pub(crate) struct Completion(Arc<Counts>);

impl Completion {
    /// Makes both ends: the [`Sending`] keeps the thread of `waiter` waiting until all is sent.
    pub(crate) fn new(waiter: Unparker) -> (Self, Sending) {
        let counts = Arc::new(Counts {
            alive: AtomicUsize::new(1),
            copies: AtomicUsize::new(0),
            ran: AtomicUsize::new(0),
            waiter,
        });
        (Self(Arc::clone(&counts)), Sending(counts))
    }

    /// Returns the outcome, once no copy is left. Everything that the copies did happened before.
    pub(crate) fn poll(&self) -> Option<Completed> {
        // ORDERING: Acquire, for the Release in `leave`: what the copies did, and the counts.
        if self.0.alive.load(Ordering::Acquire) != 0 {
            return None;
        }
        // ORDERING: Relaxed: by the load above.
        let copies = self.0.copies.load(Ordering::Relaxed);
        // ORDERING: as above.
        let ran = self.0.ran.load(Ordering::Relaxed);
        let dropped = copies - ran;
        Some(Completed { ran, dropped })
    }
}

/// Lives until all copies have been sent.
#[derive(Debug)]
pub(crate) struct Sending(Arc<Counts>);

impl Sending {
    /// Makes the first copy's part.
    pub(crate) fn copy(&self) -> Awaited {
        Counts::copy(&self.0)
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Goes with each copy of an awaited task, and reports its end.
#[derive(Debug)]
pub(crate) struct Awaited(Arc<Counts>);

impl Awaited {
    /// Makes another copy's part.
    pub(crate) fn copy(&self) -> Self {
        Counts::copy(&self.0)
    }

    /// Counts the task as run. Dropped without this call, it counts as not run.
    pub(crate) fn has_run(&self) {
        // ORDERING: Relaxed: released by `leave`, in the drop.
        self.0.ran.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.leave();
    }
}
