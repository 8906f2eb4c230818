//! The threads that wait for quiescence.

use filch_sync::atomic::AtomicUsize;
use filch_sync::{Condvar, Mutex, lock};

/// Threads that wait until nothing can run, and what they are told.
pub(crate) struct Observers {
    pub(crate) count: AtomicUsize,
    pub(crate) moments: Mutex<Moments>,
    pub(crate) changed: Condvar,
}

/// The moments that observers wait for.
#[derive(Clone, Copy, Default)]
pub(crate) struct Moments {
    /// Moments of quiescence that were seen while a thread waited.
    pub(crate) seen: u64,
    /// The last thread has exited: there will be no more.
    pub(crate) over: bool,
}

impl Observers {
    pub(crate) fn new() -> Self {
        Self {
            count: AtomicUsize::new(0),
            moments: Mutex::new(Moments::default()),
            changed: Condvar::new(),
        }
    }

    /// Tells the observers. The innermost lock: `change` takes none.
    pub(crate) fn report(&self, change: impl FnOnce(&mut Moments)) {
        change(&mut lock(&self.moments));
        self.changed.notify_all();
    }
}
