//! The deque that a thief fills: the owner's side of a steal of many.

use filch_sync::Arc;

use crate::claim::Claim;
use crate::deque::Deque;
use crate::policy::Policy;
use crate::worker::Worker;

impl<T, P: Policy> Worker<T, P> {
    /// Whether this is the owner's end of `deque`.
    pub(crate) fn owns(&self, deque: &Arc<Deque<T>>) -> bool {
        Arc::ptr_eq(&self.deque, deque)
    }

    /// Pushes the rest of a thief's claim, oldest first. There must be [`room`](Self::room) for it,
    /// since nothing may be allocated before the claim is finished.
    pub(crate) fn receive(&self, claim: Claim<T>) {
        let (slots, mut bottom) = (self.slots.get(), self.bottom());
        let count = claim.len();
        // `for_each` drops the claim at its end, before anything is published.
        claim.for_each(|item| {
            debug_assert_ne!(bottom, self.room_end.get());
            // SAFETY: this is the owner; nothing at or past bottom is published; there is room for
            // the claim.
            unsafe { slots.write(bottom, item) };
            bottom = bottom.wrapping_add(1);
        });
        self.position.set(self.position.get() + count);
        self.offer();
    }
}
