//! The end that wakes.

use core::fmt;
use std::sync::Arc as StdArc;
use std::task::Wake;

use filch_sync::Arc;

use crate::shared::Shared;

/// The end that wakes. Any number of threads may hold a clone of it, and it may outlive its
/// [`Parker`](crate::Parker).
#[derive(Clone)]
pub struct Unparker {
    shared: Arc<Shared>,
}

impl Unparker {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Leaves the token, so that the current or the next `park` returns. Returns whether it woke
    /// the parker: of several calls during one sleep, exactly one returns true.
    ///
    /// After `true`, the `park` that was asleep returns with the token, even if its time is up at
    /// the same moment.
    ///
    /// Everything before this call happens before the return of the `park` that takes the token,
    /// even if a token was there already.
    ///
    /// Wait-free if the parker is awake: one swap. If it sleeps, or is about to, one system call,
    /// and the call blocks for the few instructions during which the parker holds the lock.
    pub fn unpark(&self) -> bool {
        self.shared.unpark()
    }
}

/// A [`Waker`](std::task::Waker) that unparks: `Waker::from(Arc::new(parker.unparker()))`.
impl Wake for Unparker {
    fn wake(self: StdArc<Self>) {
        self.unpark();
    }

    fn wake_by_ref(self: &StdArc<Self>) {
        self.unpark();
    }
}

impl fmt::Debug for Unparker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unparker").finish_non_exhaustive()
    }
}
