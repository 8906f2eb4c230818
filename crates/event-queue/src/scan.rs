//! One pass of the consumer over the slots that were claimed when it began.

use crate::block::Block;
use crate::position::Position;

/// Where a pass stands. Plain data; the consumer's alone.
///
/// The pass looks at each slot in `[head, limit)` once, in claiming order, takes those that are
/// full and passes over the rest. It never looks behind `limit`: see the essay for what would
/// overtake what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan {
    /// The next slot to look at.
    at: Position,
    /// Where the tail was when the pass began.
    limit: Position,
    /// Address of the last block that the pass left behind with something in it; 0: none, so
    /// `at.block` is the head.
    behind: usize,
}

impl Scan {
    /// From the oldest slot that is not emptied up to the tail.
    pub(crate) const fn new(head: Position, limit: Position) -> Self {
        Self {
            at: head,
            limit,
            behind: 0,
        }
    }

    /// A pass that is over.
    pub(crate) const fn over() -> Self {
        let nowhere = Position { block: 0, index: 0 };
        Self::new(nowhere, nowhere)
    }

    /// Whether every slot before the limit was looked at.
    fn is_over(&self) -> bool {
        self.at == self.limit
    }

    /// The limit, if the pass has reached it and there is a block.
    pub(crate) fn end(&self) -> Option<Position> {
        (self.is_over() && self.limit.block != 0).then_some(self.limit)
    }

    /// The next full slot's value. `new_head` is called with the address of the new first block
    /// when the old one is freed, or there was none.
    ///
    /// # Safety
    /// The caller is the consumer; `limit` was acquired from the tail, and the head has not changed
    /// since other than by this function.
    pub(crate) unsafe fn next<T, const CAP: usize>(
        &mut self,
        mut new_head: impl FnMut(usize),
    ) -> Option<T> {
        while !self.is_over() {
            if self.at.index == CAP {
                // SAFETY: as ours. The limit lies in a later block, because the pass is not over.
                unsafe { self.next_block::<T, CAP>(&mut new_head) };
                continue;
            }
            let index = self.at.index;
            // SAFETY: a block in [head, limit] is live: only the consumer frees, and only blocks
            // that it passed.
            let block = unsafe { &*Block::<T, CAP>::at(self.at.block) };
            self.at = self.at.next();
            // SAFETY: the slot lies before the limit, which was acquired (contract).
            if let Some(value) = unsafe { block.take(index) } {
                return Some(value);
            }
        }
        None
    }

    /// Goes on to the first slot of the next block, and frees the block it leaves if that is spent.
    ///
    /// # Safety
    /// As for `next`, and `at.block` is not the limit's block.
    unsafe fn next_block<T, const CAP: usize>(&mut self, new_head: &mut impl FnMut(usize)) {
        let left = self.at.block;
        // SAFETY: as ours.
        let next = unsafe { self.successor::<T, CAP>() };
        self.at = Position::first_of(next);
        if left == 0 {
            new_head(next);
            return;
        }
        // SAFETY: a block in [head, limit] is live; the caller is the consumer.
        if !unsafe { (*Block::<T, CAP>::at(left)).is_spent() } {
            self.behind = left;
            return;
        }
        if self.behind == 0 {
            new_head(next);
        } else {
            // SAFETY: `behind` is not spent, so it is live; the caller is the consumer.
            unsafe { (*Block::<T, CAP>::at(self.behind)).set_next(next) };
        }
        // SAFETY: spent, so all producers are done with it. The head or the link before it now
        // leads past it; the tail has left it for good, as it has a successor.
        unsafe { Block::<T, CAP>::free(left) };
    }

    /// Address of the block after `at.block`. Producers link backwards only; the first time, this
    /// turns all links between the limit and `at.block` around, so that each block is walked over
    /// once.
    ///
    /// # Safety
    /// As for `next_block`.
    unsafe fn successor<T, const CAP: usize>(&self) -> usize {
        let from = self.at.block;
        if from != 0 {
            // SAFETY: a block in [head, limit] is live; the caller is the consumer.
            let known = unsafe { (*Block::<T, CAP>::at(from)).next() };
            if known != 0 {
                return known;
            }
        }
        // `from` is the newest block that is linked, so the walk meets only blocks that the
        // consumer has never seen: none is spent, all are live, and no two have the same address.
        let mut block = self.limit.block;
        loop {
            // SAFETY: live, see above; installed before the limit, which the caller acquired.
            let prev = unsafe { (*Block::<T, CAP>::at(block)).prev() };
            if prev != 0 {
                // SAFETY: `from` or a block of the walk; live. The caller is the consumer.
                unsafe { (*Block::<T, CAP>::at(prev)).set_next(block) };
            }
            if prev == from {
                return block;
            }
            block = prev;
        }
    }
}
