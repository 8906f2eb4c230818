use core::fmt;

use filch_sync::Arc;

use crate::parker::Shared;

/// The end that wakes: any number of threads may hold a clone of it. It may outlive its
/// [`Parker`](crate::Parker).
#[derive(Clone)]
pub struct Unparker {
    shared: Arc<Shared>,
}

impl Unparker {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Leaves the token, so that the current or the next `park` returns. Whether the parker was
    /// asleep, and was woken by this call; of many calls during one sleep one is told so.
    ///
    /// After `true` the `park` that was asleep returns with the token, even if its time is up just
    /// now.
    ///
    /// What came before happens before the return of the `park` that takes the token, also if there
    /// was one already.
    ///
    /// Wait-free if the parker is awake: one swap. If it sleeps, or is about to: blocking, for the
    /// few instructions in which the parker holds the lock, and one system call.
    pub fn unpark(&self) -> bool {
        self.shared.unpark()
    }
}

impl fmt::Debug for Unparker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unparker").finish_non_exhaustive()
    }
}
