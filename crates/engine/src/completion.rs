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
    ran: AtomicUsize,
    dropped: AtomicUsize,
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
        Awaited {
            counts: Arc::clone(counts),
            has_run: false,
        }
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
            ran: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            waiter,
        });
        (Self(Arc::clone(&counts)), Sending(counts))
    }

    /// What it came to, once no copy is left. Then all that ran happened before.
    pub(crate) fn poll(&self) -> Option<Completed> {
        // ORDERING: Acquire, for the Release in `leave`: what the copies did, and the counts.
        (self.0.alive.load(Ordering::Acquire) == 0).then(|| Completed {
            // ORDERING: Relaxed: by the load above, twice.
            ran: self.0.ran.load(Ordering::Relaxed),
            dropped: self.0.dropped.load(Ordering::Relaxed),
        })
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
pub(crate) struct Awaited {
    counts: Arc<Counts>,
    has_run: bool,
}

impl Awaited {
    /// For another copy.
    pub(crate) fn copy(&self) -> Self {
        Counts::copy(&self.counts)
    }

    /// The task has run.
    pub(crate) fn ran(mut self) {
        self.has_run = true;
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        let counter = match self.has_run {
            true => &self.counts.ran,
            false => &self.counts.dropped,
        };
        // ORDERING: Relaxed: released by `leave`.
        counter.fetch_add(1, Ordering::Relaxed);
        self.counts.leave();
    }
}
