//! Values that only the owner of their slot, or of the whole slab, may touch.

use filch_slab::Slab;
use filch_sync::cell::UnsafeCell;

/// A value that only the owner of its index may touch; loom fails an execution in which two do.
pub(crate) struct Owned(UnsafeCell<u32>);

// SAFETY: the models touch the cell only while they own its index, or the whole slab, which is the
// claim under test.
unsafe impl Sync for Owned {}

pub(crate) fn owned(_index: u32) -> Owned {
    Owned(UnsafeCell::new(0))
}

/// Adds one to the value at `index`, and returns it as it was.
pub(crate) fn bump(slab: &Slab<Owned>, index: u32) -> u32 {
    slab.get(index).unwrap().0.with_mut(|value| {
        // SAFETY: the caller owns `index`, or the slab; `release` is the edge from the owner
        // before, to `allocate` or to whoever is told that the slab is retired.
        unsafe {
            *value += 1;
            *value - 1
        }
    })
}

/// Checks, after this thread has left a slab of two slots that were bumped once each, if it was the
/// last one: then it touches all, as the drop of the slab would. Returns `is_last`.
pub(crate) fn told(slab: &Slab<Owned>, is_last: bool) -> bool {
    if is_last {
        assert_eq!([0, 1].map(|index| bump(slab, index)), [1, 1]);
    }
    is_last
}
