//! Slots between a producer's claim and its items.

use crate::block::{Block, Blocks};
use crate::position::Position;

/// Slots of one block that a producer has claimed and not yet filled.
///
/// Dropping it abandons the slots that have no item. Until then the block is not reused.
pub(crate) struct Reserved<'a, T, const BLOCK: usize> {
    blocks: &'a Blocks<T, BLOCK>,
    block: &'a Block<T, BLOCK>,
    /// The number of the block.
    number: u32,
    /// The next slot to fill.
    next: u32,
    end: u32,
}

impl<'a, T, const BLOCK: usize> Reserved<'a, T, BLOCK> {
    /// Makes the claim of `count` slots from `at` on.
    ///
    /// # Safety
    ///
    /// The caller has moved `tail` from `at` by `count`, all in one block, and makes this once.
    #[inline]
    pub(crate) unsafe fn new(blocks: &'a Blocks<T, BLOCK>, at: Position, count: u32) -> Self {
        Self {
            blocks,
            block: blocks.get(at.block),
            number: at.block,
            next: at.index,
            end: at.index + count,
        }
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.next == self.end
    }

    /// Puts `item` into the next slot, which must exist; or gives it back if the slot is abandoned.
    #[inline]
    pub(crate) fn fill(&mut self, item: T) -> Result<(), T> {
        debug_assert!(!self.is_empty());
        let index = self.next;
        self.next += 1;
        // SAFETY: one of the claimed slots (`new`), and each index comes once.
        unsafe { self.block.fill(index, item) }
            .inspect_err(|_| self.blocks.finish(self.number, self.block, 1))
    }
}

impl<T, const BLOCK: usize> Drop for Reserved<'_, T, BLOCK> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: claimed (`new`), not filled, each once. Each slot keeps the block in this life
        // until it is abandoned.
        let is_ours_to_finish = |&index: &u32| unsafe { self.block.abandon_without_item(index) };
        let ours = (self.next..self.end).filter(is_ours_to_finish).count() as u32;
        // If none is ours, the block may be in another life by now.
        if ours > 0 {
            self.blocks.finish(self.number, self.block, ours);
        }
    }
}
