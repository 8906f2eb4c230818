//! A place at which loom considers every order of the threads.

use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, Ordering};

/// loom remembers one last access per object, and so misses orders of an early access with another thread's. All
/// accesses to this word are read-modify-writes, which it orders both ways: a model passes here before what it is
/// about.
#[derive(Clone)]
pub(crate) struct Crossing(Arc<AtomicU32>);

impl Crossing {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicU32::new(0)))
    }

    pub(crate) fn pass(&self) {
        // ORDERING: Relaxed: it must add schedules, not edges.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
