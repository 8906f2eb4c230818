//! A claim that succeeded, until its items are moved out.

use core::ptr::NonNull;

use crate::ring::{Ring, Slots};

/// Items that a thief has claimed and not yet moved out. They belong to the thief, and the ring is
/// kept for them.
///
/// The thief does nothing but take them, oldest first. Until the claim is dropped nothing may
/// allocate, panic or call user code: a claim that stays open keeps its ring alive.
pub(crate) struct Claim<T> {
    ring: NonNull<Ring<T>>,
    next: u32,
    end: u32,
    count: u32,
}

impl<T> Claim<T> {
    /// Begins the claim of items `first..first + count` of `ring`: moves the oldest out, and keeps
    /// the others.
    ///
    /// # Safety
    ///
    /// The compare-and-swap that took these items, at least one, succeeded, with an edge from their
    /// writes to here; `ring` holds them and will live until `done` counts them; no other `Claim`
    /// is made of it.
    #[inline]
    pub(crate) unsafe fn begin(ring: NonNull<Ring<T>>, first: u32, count: u32) -> (T, Self) {
        // SAFETY: the caller's, by contract.
        let oldest = unsafe { ring.as_ref().take(first) };
        let others = Self {
            ring,
            next: first.wrapping_add(1),
            end: first.wrapping_add(count),
            count,
        };
        (oldest, others)
    }

    /// How many items are left in it.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.end.wrapping_sub(self.next)
    }

    /// Moves what is left into `target`, from index `to` on, oldest first, and ends the claim.
    ///
    /// # Safety
    ///
    /// The caller is the owner of the ring of `target`, which lives and has room for so many: its
    /// slots from `to` on are not published, and no claim of their former items is open.
    #[inline]
    pub(crate) unsafe fn move_to(mut self, target: Slots<T>, to: u32) {
        // SAFETY: claimed by this thread (`begin`), each index once; the ring lives, since `done`
        // lacks this claim; the target is the caller's, by contract.
        unsafe {
            let slots = self.ring.as_ref().slots();
            slots.copy_to(self.next, self.len(), target, to);
        }
        self.next = self.end;
    }
}

impl<T> Iterator for Claim<T> {
    type Item = T;

    /// Moves the next item out, oldest first.
    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.next == self.end {
            return None;
        }
        let index = self.next;
        self.next = index.wrapping_add(1);
        // SAFETY: claimed by this thread (`begin`), each index once; the ring lives, since `done`
        // lacks this claim.
        Some(unsafe { self.ring.as_ref().take(index) })
    }
}

impl<T> Drop for Claim<T> {
    #[inline]
    fn drop(&mut self) {
        debug_assert_eq!(self.next, self.end, "claimed items would leak");
        // SAFETY: `begin` and `next` moved the claimed items out, and this reports them once. If
        // any were left, they would leak.
        unsafe { Ring::finish(self.ring, self.count) };
    }
}
