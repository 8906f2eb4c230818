//! How many clones of a future's waker there are.

use filch_sync::atomic::{AtomicBool, Ordering, fence};

/// What turns the number of references to what a waker is made of into the number of its clones:
/// the future's handle may hold one of the references, and lets go of it at any time.
///
/// The references are counted elsewhere, as an `Arc` does it: a thread that lets go of one counts
/// with Release.
#[derive(Debug)]
pub struct WakerCount {
    in_handle: AtomicBool,
}

#[expect(
    clippy::new_without_default,
    reason = "that the handle has a reference is worth a name"
)]
impl WakerCount {
    /// The handle has one of the references.
    pub fn new() -> Self {
        Self {
            in_handle: AtomicBool::new(true),
        }
    }

    /// The handle lets go of its reference after this. Wait-free.
    pub fn leave_handle(&self) {
        // ORDERING: Relaxed: the reference is counted down after this with Release, partner of the
        // fence in `clones`.
        self.in_handle.store(false, Ordering::Relaxed);
    }

    /// How many references there are besides `own`, which are the caller's, and the handle's. At
    /// most one too many, while the handle lets go of its own; never too few. Wait-free.
    ///
    /// `references` reads the count; a Relaxed load will do. What another thread did before it let
    /// go of a reference that is not counted any more happens before this returns: if it was a
    /// wake-up, the caller finds the future woken.
    pub fn clones(&self, own: usize, references: impl FnOnce() -> usize) -> usize {
        let others = references() - own;
        // ORDERING: Acquire, partner of the Release with which references are counted down. For
        // the handle's: if it is not counted any more, it is not seen to be there below. (A fence,
        // as an `Arc` reads its count by a Relaxed load.)
        fence(Ordering::Acquire);
        // ORDERING: Relaxed: by the fence.
        others.saturating_sub(usize::from(self.in_handle.load(Ordering::Relaxed)))
    }
}
