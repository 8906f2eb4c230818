//! A waker of a thread of the model.

use std::sync::Arc;
use std::task::{Wake, Waker};

use filch_parker::{Parker, Unparker};
use filch_sync::atomic::{AtomicUsize, Ordering};

/// Wakes a thread of the model, and counts.
#[derive(Debug)]
pub(crate) struct Awake {
    unparker: Unparker,
    wakes: AtomicUsize,
}

impl Awake {
    /// Makes one for the thread that parks there.
    pub(crate) fn new(parker: &Parker) -> Arc<Self> {
        Arc::new(Self {
            unparker: parker.unparker(),
            wakes: AtomicUsize::new(0),
        })
    }

    /// Makes a waker that calls it.
    pub(crate) fn waker(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::clone(self))
    }

    /// Returns how often it was called.
    pub(crate) fn wakes(&self) -> usize {
        // ORDERING: Relaxed, here and below: looked at when the threads are joined.
        self.wakes.load(Ordering::Relaxed)
    }
}

impl Wake for Awake {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::Relaxed);
        self.unparker.unpark();
    }
}
