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

/// The end for the thread that waits.
#[derive(Debug)]
pub(crate) struct Completion(Arc<Counts>);

impl Completion {
    /// Makes both ends. The sender's keeps the thread of `waiter` waiting until all is sent.
    pub(crate) fn new(waiter: Unparker) -> (Self, Awaited) {
        let counts = Arc::new(Counts {
            alive: AtomicUsize::new(1),
            copies: AtomicUsize::new(0),
            ran: AtomicUsize::new(0),
            waiter,
        });
        (Self(Arc::clone(&counts)), Awaited(counts))
    }

    /// Returns the outcome, once no copy is left. Everything that the copies did happened before.
    pub(crate) fn poll(&self) -> Option<Completed> {
        // ORDERING: Acquire, for the Release in the drop: what the copies did, and the counts.
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

/// A task's part in a wait for it; `()`: nobody waits.
pub(crate) trait Part: Send + 'static {
    /// Makes another copy's part.
    fn copy(&self) -> Self;

    /// Counts the task as run. Dropped without this call, it counts as not run.
    fn has_run(&self);
}

impl Part for () {
    fn copy(&self) {}

    fn has_run(&self) {}
}

/// Goes with each copy of an awaited task, and reports its end. The sender has one, too, until all
/// copies are sent.
#[derive(Debug)]
pub(crate) struct Awaited(Arc<Counts>);

impl Part for Awaited {
    fn copy(&self) -> Self {
        // ORDERING: Relaxed: the caller has one, so that the count is not 0.
        self.0.alive.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Relaxed: released by the drop.
        self.0.copies.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }

    fn has_run(&self) {
        // ORDERING: Relaxed: released by the drop.
        self.0.ran.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        // ORDERING: Release, for the Acquire in `poll`: what this copy did. An RMW: so do the
        // others', whose releases it continues.
        if self.0.alive.fetch_sub(1, Ordering::Release) == 1 {
            self.0.waiter.unpark();
        }
    }
}
