//! The consumers' end of the queue, and the items between their claim and their taker.

use filch_deque::Worker;
use filch_sync::atomic::Ordering;

use crate::block::{Abandon, Block, Blocks, Next};
use crate::injector::{Backoff, Injector, Position};

impl<T: Send, const BLOCK: usize> Injector<T, BLOCK> {
    /// Takes the oldest item. Lock-free.
    ///
    /// `None` if the queue was empty at some moment of the call. So an item whose push happened
    /// before this call is never overlooked, unless another consumer takes it.
    pub fn pop(&self) -> Option<T> {
        self.claim(1)?.next()
    }

    /// Takes the oldest item, and with the same claim up to `more` that follow it, which go to
    /// `sink` in FIFO order. Lock-free.
    ///
    /// The batch ends with the block that it begins in, and before an item whose push is still
    /// under way; so it has at most `BLOCK` items, and may have fewer than the queue could give.
    /// `sink` may push to this queue; while it runs, one block is not reused. If it panics, the
    /// items of the batch that it has not received are dropped.
    pub fn pop_batch(&self, more: usize, sink: impl FnMut(T)) -> Option<T> {
        let mut claim = self.claim(more.saturating_add(1))?;
        let first = claim.next();
        claim.for_each(sink);
        first
    }

    /// Takes the oldest item, and with the same claim up to `more` that follow it, which are pushed
    /// to `into` in FIFO order: thieves find them in it oldest first. Otherwise as
    /// [`pop_batch`](Self::pop_batch).
    ///
    /// # Panics
    ///
    /// If `into` would hold 2²⁸ items. The whole batch is dropped then.
    #[doc(alias = "steal_batch_and_pop")]
    pub fn pop_batch_into(&self, into: &Worker<T>, more: usize) -> Option<T> {
        let mut claim = self.claim(more.saturating_add(1))?;
        let first = claim.next();
        // SAFETY: the claim knows nothing of the deque.
        unsafe { into.push_together(claim.len(), || claim.next().expect("it has as many")) };
        first
    }
}

impl<T, const BLOCK: usize> Injector<T, BLOCK> {
    /// Claims between one and `wanted` items by one exchange; none if the queue is empty.
    pub(crate) fn claim(&self, wanted: usize) -> Option<Claim<'_, T, BLOCK>> {
        let mut backoff = Backoff::new(self.pauses);
        loop {
            // ORDERING: Acquire: pairs with the Release of the exchanges of `head`: see `advance`.
            let head = Position::unpack(self.head.load(Ordering::Acquire));
            let block = self.blocks.get(head.block);
            let full = block.run(head.index, wanted);
            if full > 0 {
                if self.advance(head, full) {
                    // SAFETY: claimed just now. The exchange found `head` where it was before the
                    // look, so it was there all the time: nobody else has claimed the slots, and
                    // the block is in the same life.
                    return Some(unsafe { Claim::new(&self.blocks, block, head, full) });
                }
                backoff.wait();
                continue;
            }
            // ORDERING: Acquire: pairs with the Release of `move_tail`: if `tail` has left a block,
            // this thread sees the block's link.
            if self.tail.load(Ordering::Acquire) == head.pack() {
                return None;
            }
            if head.index as usize == BLOCK {
                self.move_head(head);
                continue;
            }
            if !block.is_abandoned(head.index) && backoff.wait() {
                continue;
            }
            if self.advance(head, 1) {
                // SAFETY: claimed just now.
                match unsafe { block.abandon(head.index) } {
                    Abandon::Full => {
                        // SAFETY: claimed, and full after all.
                        return Some(unsafe { Claim::new(&self.blocks, block, head, 1) });
                    }
                    // The producer finishes the slot.
                    Abandon::First => {}
                    Abandon::Second => self.blocks.finish(head.block, block, 1),
                }
            }
        }
    }

    /// Claims `count` slots from `head` on. They must be of one block, and claimed by producers.
    #[inline]
    fn advance(&self, head: Position, count: u32) -> bool {
        // ORDERING: success Release: pairs with the Acquire loads of `head`: a thread that starts
        // from the new head sees a `tail` that is not behind it. The load has acquired the block.
        // Failure Relaxed: the caller starts anew.
        let exchanged = self.head.compare_exchange(
            head.pack(),
            head.at(head.index + count).pack(),
            Ordering::Release,
            Ordering::Relaxed,
        );
        exchanged.is_ok()
    }

    /// Moves `head` from the end of its block to the next block, which is linked: the caller has
    /// seen a `tail` beyond this block.
    #[cold]
    fn move_head(&self, head: Position) {
        let block = self.blocks.get(head.block);
        let Next::Block(next) = block.next(head.sequence) else {
            return;
        };
        // ORDERING: success Release: as in `advance`; and threads that find the next block here see
        // it as this thread acquired it through the link. Failure Relaxed: another thread has moved
        // `head`.
        let moved = self.head.compare_exchange(
            head.pack(),
            head.following(next, 0).pack(),
            Ordering::Release,
            Ordering::Relaxed,
        );
        if moved.is_ok() {
            self.blocks.finish(head.block, block, 1);
        }
    }
}

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
