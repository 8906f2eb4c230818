//! Whether a task that somebody waits for is done, wherever it went.

use filch_parker::Unparker;
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};

/// What a task came to that somebody waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// How many workers ran it to its end.
    pub ran: usize,
    /// How many did not: they ended before, or panicked in it, or nobody took it any more.
    pub dropped: usize,
}

/// What the copies of a task share, if somebody waits for it.
#[derive(Debug)]
struct Counts {
    /// Copies, and the sender as long as it sends.
    alive: AtomicUsize,
    /// All that there were.
    copies: AtomicUsize,
    ran: AtomicUsize,
    waiter: Unparker,
}

impl Counts {
    /// One less is alive.
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

/// The end of the thread that waits.
#[derive(Debug)]
pub(crate) struct Completion(Arc<Counts>);

impl Completion {
    /// For a thread with that unparker; and what keeps it waiting until all has been sent.
    pub(crate) fn new(waiter: Unparker) -> (Self, Sending) {
        let counts = Arc::new(Counts {
            alive: AtomicUsize::new(1),
            copies: AtomicUsize::new(0),
            ran: AtomicUsize::new(0),
            waiter,
        });
        (Self(Arc::clone(&counts)), Sending(counts))
    }

    /// What it came to, once no copy is left. Then all that ran happened before.
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

/// As long as it lives, not all copies have been sent.
#[derive(Debug)]
pub(crate) struct Sending(Arc<Counts>);

impl Sending {
    /// For the first copy.
    pub(crate) fn copy(&self) -> Awaited {
        Counts::copy(&self.0)
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Goes with each copy of a task that somebody waits for, and tells its end.
#[derive(Debug)]
pub(crate) struct Awaited(Arc<Counts>);

impl Awaited {
    /// For another copy.
    pub(crate) fn copy(&self) -> Self {
        Counts::copy(&self.0)
    }

    /// The task has run. Dropped without that, it has not.
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
