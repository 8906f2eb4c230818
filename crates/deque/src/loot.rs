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
        let count = claim.len();
        debug_assert!(count <= self.room());
        // SAFETY: this is the owner; nothing at or past bottom is published; there is room for the
        // claim, which is of another ring, or empty.
        unsafe { claim.move_to(self.slots.get(), self.bottom()) };
        self.position.set(self.position.get() + u64::from(count));
        self.offer();
    }
}
