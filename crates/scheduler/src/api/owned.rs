//! A reference that is counted, to what is also kept in another way.

use std::ops::Deref;
use std::process::abort;
use std::ptr::NonNull;

use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicUsize, Ordering, fence};

/// What is left to others when its last owner goes.
pub(crate) trait Retire {
    /// The last owner goes. Whether nobody has to do with the value any more; if somebody has, it
    /// will be [freed](Owned::free) by the last of those.
    fn retire(&self) -> bool;
}

/// One of the owners of a value: an `Arc`, but for the end. When the last owner goes, the value is
/// [retired](Retire), and those that keep it in another way have it [lent](Self::lent).
pub(crate) struct Owned<T: Retire>(NonNull<CachePadded<Block<T>>>);

/// Padded: each owner writes the count, and others read the rest.
struct Block<T> {
    owners: AtomicUsize,
    value: T,
}

// SAFETY: as for an `Arc`: the value is shared, and dropped by any thread that has it.
unsafe impl<T: Retire + Send + Sync> Send for Owned<T> {}
// SAFETY: as above.
unsafe impl<T: Retire + Send + Sync> Sync for Owned<T> {}

impl<T: Retire> Owned<T> {
    pub(crate) fn new(value: T) -> Self {
        let owners = AtomicUsize::new(1);
        let block = Box::new(CachePadded::new(Block { owners, value }));
        Self(NonNull::from(Box::leak(block)))
    }

    fn block(&self) -> &Block<T> {
        // SAFETY: it is freed when no owner is left, and nobody else that keeps it.
        unsafe { self.0.as_ref() }
    }

    /// For those that keep the value in another way: see [`lent`](Self::lent).
    pub(crate) fn as_ptr(&self) -> *mut () {
        self.0.as_ptr().cast()
    }

    /// The same again, not counted.
    ///
    /// # Safety
    /// The pointer is [that](Self::as_ptr) of an owner of such a value. The result is used only
    /// while its holder keeps the value; it is neither cloned nor dropped.
    #[inline]
    pub(crate) unsafe fn lent(pointer: *mut ()) -> Self {
        // SAFETY: an owner's pointer is not null (contract).
        Self(unsafe { NonNull::new_unchecked(pointer.cast()) })
    }

    /// Frees the value.
    ///
    /// # Safety
    /// It is retired, and the caller was the last that kept it.
    #[cold]
    pub(crate) unsafe fn free(lent: &Self) {
        // SAFETY: made by `Box::leak`, and nobody has to do with it any more (contract).
        drop(unsafe { Box::from_raw(lent.0.as_ptr()) });
    }
}

impl<T: Retire> Deref for Owned<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.block().value
    }
}

impl<T: Retire> Clone for Owned<T> {
    fn clone(&self) -> Self {
        // ORDERING: Relaxed: the caller's own reference keeps the value, and whatever is done by
        // the new one is released by its drop.
        let before = self.block().owners.fetch_add(1, Ordering::Relaxed);
        if before > usize::MAX / 2 {
            // Clones that are forgotten: one more turn, and the value would be freed under them.
            abort();
        }
        Self(self.0)
    }
}

impl<T: Retire> Drop for Owned<T> {
    fn drop(&mut self) {
        // ORDERING: Release, partner of the fence below in the last owner.
        if self.block().owners.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        // ORDERING: Acquire, partner of the Release above in the other owners: what they did
        // happens before the value is retired.
        fence(Ordering::Acquire);
        if self.retire() {
            // SAFETY: nobody else keeps it.
            unsafe { Self::free(self) };
        }
    }
}
