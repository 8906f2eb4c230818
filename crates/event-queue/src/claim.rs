//! A place in the queue, between its claim and its event.

use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;

use crate::block::Block;

/// A place for one event, from [`EventQueue::claim`](crate::EventQueue::claim) or `claim_in`. The
/// queue refuses before there is an event to hand back. Until the place is filled, or dropped and
/// so given up, drains pass over it, and the life of the queue cannot end.
#[must_use = "dropping it gives the place up"]
pub struct Claim<'queue, T> {
    pub(crate) block: Block<T>,
    pub(crate) index: usize,
    pub(crate) queue: PhantomData<&'queue T>,
}

impl<T> Claim<'_, T> {
    /// Puts the event into the place. Wait-free. The caller's earlier acts happen before the
    /// consumer's use of the event.
    #[inline]
    pub fn fill(self, event: T) {
        let claim = ManuallyDrop::new(self);
        // SAFETY: the slot is ours by its claim, and not filled.
        unsafe { claim.block.fill(claim.index, event) };
    }
}

impl<T> Drop for Claim<'_, T> {
    fn drop(&mut self) {
        // SAFETY: as in `fill`.
        unsafe { self.block.cancel(self.index) };
    }
}

impl<T> fmt::Debug for Claim<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").finish_non_exhaustive()
    }
}
