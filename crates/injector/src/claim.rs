//! Items between their claim and their taker.

use crate::block::{Block, Blocks};
use crate::position::Position;

/// Filled slots that a consumer has claimed and not yet emptied, all in one block.
///
/// An iterator of the items, oldest first. Dropping it drops the remaining items, and counts the
/// slots as finished. Until then the block is not reused; an open claim costs others no more.
pub(crate) struct Claim<'a, T, const BLOCK: usize> {
    blocks: &'a Blocks<T, BLOCK>,
    block: &'a Block<T, BLOCK>,
    /// The number of the block.
    number: u32,
    count: u32,
    next: u32,
    end: u32,
}

impl<'a, T, const BLOCK: usize> Claim<'a, T, BLOCK> {
    /// The claim of `count` slots from `at` on.
    ///
    /// # Safety
    ///
    /// The caller has moved `head` from `at` by `count`, and makes this claim once. `block` is the
    /// one at `at`. All these slots are filled, and the caller has acquired that.
    #[inline]
    pub(crate) const unsafe fn new(
        blocks: &'a Blocks<T, BLOCK>,
        block: &'a Block<T, BLOCK>,
        at: Position,
        count: u32,
    ) -> Self {
        Self {
            blocks,
            block,
            number: at.block,
            count,
            next: at.index,
            end: at.index + count,
        }
    }

    /// Returns the number of items that nobody has taken out yet.
    pub(crate) const fn len(&self) -> usize {
        (self.end - self.next) as usize
    }
}

impl<T, const BLOCK: usize> Iterator for Claim<'_, T, BLOCK> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.next == self.end {
            return None;
        }
        let index = self.next;
        self.next += 1;
        // SAFETY: one of the claimed slots, filled (`new`), and each index comes once. The block is
        // in the life that it was claimed in: `done` does not count these slots yet.
        Some(unsafe { self.block.take(index) })
    }
}

impl<T, const BLOCK: usize> Drop for Claim<'_, T, BLOCK> {
    #[inline]
    fn drop(&mut self) {
        /// Counts the slots, also when the destructor of an item unwinds.
        struct Finish<'a, 'b, T, const BLOCK: usize>(&'a mut Claim<'b, T, BLOCK>);

        impl<T, const BLOCK: usize> Drop for Finish<'_, '_, T, BLOCK> {
            #[inline]
            fn drop(&mut self) {
                let claim = &mut *self.0;
                claim.for_each(drop);
                claim.blocks.finish(claim.number, claim.block, claim.count);
            }
        }

        Finish(self).0.for_each(drop);
    }
}
