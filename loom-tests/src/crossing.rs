//! Schedules that loom leaves out.

use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, Ordering};

/// A place at which loom considers every order of the threads that pass it.
///
/// loom switches threads only where it finds two accesses that conflict. To find them, it remembers
/// per atomic the last access and the last write, of whichever thread. A write is compared with the
/// last access, a load with the last write. So a load hides the loads that other threads made
/// before it: the owner reads `top`, a thief reads `top` and then writes it; the write is compared
/// with the thief's own load, and loom never tries to place it before the owner's. No bound helps,
/// not even an exhaustive search.
///
/// All accesses to a crossing are read-modify-writes. Those hide nothing: each conflicts with the
/// one before it, and switching these two brings the one before that to light. A model lets its
/// threads pass a crossing before the operations that it is about, and all orders of these
/// beginnings are explored. Inside an operation nothing is added, and the shipped code stays as it
/// is. Passing is relaxed and orders nothing for the threads that pass.
#[derive(Clone, Debug)]
pub struct Crossing(Arc<AtomicU32>);

impl Default for Crossing {
    fn default() -> Self {
        Self::new()
    }
}

impl Crossing {
    /// A crossing of one execution: make it inside the model. Its clones are the same place.
    pub fn new() -> Self {
        Self(Arc::new(AtomicU32::new(0)))
    }

    /// Lets every other thread that passes here go first, in some execution.
    pub fn pass(&self) {
        // ORDERING: Relaxed: it must add schedules, not edges.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
