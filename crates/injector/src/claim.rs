//! Items between their claim and their taker.

use crate::block::Block;
use crate::injector::Injector;
use crate::position::Position;

/// Filled slots that a consumer has claimed and not yet emptied, all in one block.
///
/// An iterator of the items, oldest first. When it is dropped, items that nobody took out are
/// dropped too, and the slots are counted as finished. Until then the block is not reused; that is
/// all that an open claim costs others.
pub(crate) struct Claim<'a, T, const BLOCK: usize> {
    queue: &'a Injector<T, BLOCK>,
    block: &'a Block<T, BLOCK>,
    /// The first of the slots.
    at: Position,
    next: u32,
    end: u32,
}

impl<'a, T, const BLOCK: usize> Claim<'a, T, BLOCK> {
    /// The claim of `count` slots from `at` on.
    ///
    /// # Safety
    ///
    /// The caller has moved `head` from `at` by `count`, and makes this claim once. `block` is the
    /// one at `at`. All the slots are filled, and the caller has acquired that.
    #[inline]
    pub(crate) const unsafe fn new(
        queue: &'a Injector<T, BLOCK>,
        block: &'a Block<T, BLOCK>,
        at: Position,
        count: u32,
    ) -> Self {
        Self {
            queue,
            block,
            at,
            next: at.index,
            end: at.index + count,
        }
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
        // SAFETY: one of the claimed slots, filled (`new`), and each index comes once; the block is
        // in the life that it was claimed in, because these slots have not been counted in `done`
        // yet.
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
                claim.queue.finish(claim.at, claim.end - claim.at.index);
            }
        }

        Finish(self).0.for_each(drop);
    }
}
