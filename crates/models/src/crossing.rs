//! A place where loom tries schedules that it would leave out.

use filch_sync::Arc;
// Not filch's: a pass is nothing that a table would show.
use loom::sync::atomic::{AtomicU32, Ordering};

/// A place at which loom considers every order of the threads that pass it.
///
/// loom switches threads only where it finds two accesses that conflict. To find them, it remembers
/// per atomic the last access and the last write of any thread. It compares a write with the last
/// access, and a load with the last write. So a load hides the loads that other threads made before
/// it: the owner reads `top`, a thief reads `top` and then writes it; loom compares the write with
/// the thief's own load, and never tries to place it before the owner's. No bound helps, not even
/// an exhaustive search.
///
/// All accesses to a crossing are read-modify-writes. Those hide nothing: each conflicts with the
/// one before it, and switching these two reveals the one before that. A model lets its threads
/// pass a crossing before the operations that it is about, and loom explores all orders of these
/// beginnings. Nothing is added inside an operation, and the shipped code stays as it is. Passing
/// is relaxed and orders nothing for the threads that pass.
#[derive(Clone, Debug)]
pub struct Crossing(Arc<AtomicU32>);

impl Default for Crossing {
    fn default() -> Self {
        Self::new()
    }
}

impl Crossing {
    /// Makes a crossing for one execution, inside the model. Clones are the same place.
    pub fn new() -> Self {
        Self(Arc::new(AtomicU32::new(0)))
    }

    /// Lets every other thread that passes here go first, in some execution.
    pub fn pass(&self) {
        // ORDERING: Relaxed: it must add schedules, not edges.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
