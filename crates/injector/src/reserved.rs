//! Slots between a producer's claim and its items.

use crate::injector::Injector;
use crate::position::Position;

/// Slots of one block that a producer has claimed and not yet filled.
///
/// When it is dropped, those that have got no item are given up. Until then the block is not
/// reused.
pub(crate) struct Reserved<'a, T, const BLOCK: usize> {
    queue: &'a Injector<T, BLOCK>,
    /// The next one to fill.
    next: Position,
    end: u32,
}

impl<'a, T, const BLOCK: usize> Reserved<'a, T, BLOCK> {
    /// `count` slots from `at` on.
    ///
    /// # Safety
    ///
    /// The caller has moved `tail` from `at` by `count`, all in one block, and makes this once.
    #[inline]
    pub(crate) const unsafe fn new(
        queue: &'a Injector<T, BLOCK>,
        at: Position,
        count: u32,
    ) -> Self {
        Self {
            queue,
            next: at,
            end: at.index + count,
        }
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.next.index == self.end
    }

    /// Puts `item` into the next slot, or gives it back if that is burnt. There must be one.
    #[inline]
    pub(crate) fn fill(&mut self, item: T) -> Result<(), T> {
        debug_assert!(!self.is_empty());
        let slot = self.next;
        self.next = slot.at(slot.index + 1);
        let block = self.queue.block(slot.block);
        // SAFETY: one of the claimed slots (`new`), and each index comes once.
        unsafe { block.fill(slot.index, item) }.inspect_err(|_| self.queue.finish(slot, 1))
    }
}

impl<T, const BLOCK: usize> Drop for Reserved<'_, T, BLOCK> {
    #[inline]
    fn drop(&mut self) {
        let block = self.queue.block(self.next.block);
        // SAFETY: claimed (`new`), not filled, each once. Each of them keeps the block in this life
        // until it is given up.
        let given_up_twice = |&index: &u32| unsafe { block.give_up(index) };
        let burnt = (self.next.index..self.end).filter(given_up_twice).count() as u32;
        // With none, the block may be another one by now.
        if burnt > 0 {
            self.queue.finish(self.next, burnt);
        }
    }
}
