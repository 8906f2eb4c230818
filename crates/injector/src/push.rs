//! The producers' end of the queue, and the slots between their claim and their items.

use filch_slab::AllocateError;
use filch_sync::atomic::Ordering;

use crate::block::{Block, Blocks, Next};
use crate::injector::{Backoff, Injector, Position};

impl<T: Send, const BLOCK: usize> Injector<T, BLOCK> {
    /// Adds `item` at the back. Lock-free, except in the global allocator, which gives new blocks.
    ///
    /// # Panics
    ///
    /// If 2²⁵ blocks are in use: four thousand million items at the default block size.
    #[inline]
    pub fn push(&self, item: T) {
        if let Err(item) = self.try_push(item) {
            self.push_again(item);
        }
    }

    /// Gets the memory for one more block, so that a push does not call the global allocator.
    /// Wait-free, except in the allocator.
    ///
    /// For a producer that can turn back now, but not later, when it has the item. The block is not
    /// set aside: pushes of other threads may use it, one block for every `BLOCK` items; and
    /// threads that come to the end of a block at one time need one each.
    ///
    /// ```
    /// use filch_injector::Injector;
    ///
    /// let queue = Injector::new();
    /// queue.reserve_block()?;
    /// queue.push("an item");
    /// # Ok::<(), filch_injector::AllocateError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`AllocateError::NoMemory`], where a push would end the program.
    #[inline]
    pub fn reserve_block(&self) -> Result<(), AllocateError> {
        self.blocks.reserve()
    }

    /// Adds `items` at the back, in order, many of them with one claim. Lock-free, except in the
    /// global allocator and the iterator.
    ///
    /// Each item is a separate push: other threads may see some items of the batch before the rest,
    /// and their items may come between. One claim takes places for as many items as
    /// [`size_hint`](Iterator::size_hint) promises and the block has room for, before the iterator
    /// gives them. If an item takes long, consumers wait once and then go on without it, so it
    /// comes later. An iterator that gives fewer items, or panics, only wastes places; the items
    /// that it gave before are in the queue.
    ///
    /// # Panics
    ///
    /// As [`push`](Self::push), and if the iterator does.
    ///
    /// ```
    /// use filch_injector::Injector;
    ///
    /// let global = Injector::new();
    /// // The surplus of a worker, in one go.
    /// global.push_batch(vec!["fetch", "parse", "index"]);
    /// assert_eq!(global.pop(), Some("fetch"));
    /// assert_eq!(global.len(), 2);
    /// ```
    pub fn push_batch(&self, items: impl IntoIterator<Item = T>) {
        let mut items = items.into_iter();
        while let Some(first) = items.next() {
            if let Err(item) = self.push_run(first, &mut items) {
                self.push_again(item);
            }
        }
    }

    /// Pushes `item` after a failed attempt. Out of line, so that no push pays for its registers.
    #[cold]
    fn push_again(&self, item: T) {
        let mut item = item;
        let mut backoff = Backoff::new(self.pauses);
        loop {
            // The quicker thread is likely to go on: leave it the lines for a while.
            backoff.wait();
            match self.try_push(item) {
                Ok(()) => return,
                Err(back) => item = back,
            }
        }
    }

    /// Pushes `item`, or gives it back after a conflict.
    #[inline]
    fn try_push(&self, item: T) -> Result<(), T> {
        // ORDERING: Acquire: pairs with the Release of `move_tail`: this thread sees the block as
        // it was prepared, and its slots as their former users left them.
        let tail = Position::unpack(self.tail.load(Ordering::Acquire));
        if tail.index as usize == BLOCK {
            self.push_block(tail.pack(), item)
        } else {
            self.push_slot(tail, item)
        }
    }

    /// Claims the slot at `tail` for `item`, or gives the item back: `tail` has moved, or the slot
    /// was abandoned.
    #[inline]
    fn push_slot(&self, tail: Position, item: T) -> Result<(), T> {
        if !self.reserve(tail, 1) {
            return Err(item);
        }
        // Only now: before the exchange, the look-up would delay it.
        let block = self.blocks.get(tail.block);
        // SAFETY: the index of this block was claimed, once: `tail` only moves forward.
        unsafe { block.fill(tail.index, item) }
            .inspect_err(|_| self.blocks.finish(tail.block, block, 1))
    }

    /// Claims slots from `tail` on for `first` and as many items as `items` promises, and fills
    /// them. After a conflict it gives back the next item: `tail` has moved, or the item's slot was
    /// abandoned.
    fn push_run(&self, first: T, items: &mut impl Iterator<Item = T>) -> Result<(), T> {
        // ORDERING: Acquire: as in `try_push`.
        let tail = Position::unpack(self.tail.load(Ordering::Acquire));
        let room = BLOCK - tail.index as usize;
        if room == 0 {
            return self.push_block(tail.pack(), first);
        }
        let count = items.size_hint().0.saturating_add(1).min(room) as u32;
        if !self.reserve(tail, count) {
            return Err(first);
        }
        // SAFETY: claimed just now.
        let mut slots = unsafe { Reserved::new(&self.blocks, tail, count) };
        slots.fill(first)?;
        while !slots.is_empty()
            && let Some(item) = items.next()
        {
            slots.fill(item)?;
        }
        Ok(())
    }

    /// Claims `count` slots from `tail` on, all in its block, unless `tail` has moved.
    #[inline]
    fn reserve(&self, tail: Position, count: u32) -> bool {
        // ORDERING: success Relaxed: the load has acquired the block, and a thread that finds this
        // position acquires what it needs from the `move_tail` that led to the block: an RMW
        // continues its release sequence. The slots' states publish the items. Failure Relaxed: the
        // caller loads again. (Not the weak exchange: after a spurious failure the caller would
        // wait for nobody.)
        let exchanged = self.tail.compare_exchange(
            tail.pack(),
            tail.at(tail.index + count).pack(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        exchanged.is_ok()
    }

    /// Appends a block with `item` in its first slot, or gives the item back: another thread has
    /// appended a block, and `tail` is about to move.
    ///
    /// `tail` comes packed: three fields would go through memory, and each push would store them.
    #[cold]
    fn push_block(&self, tail: u64, item: T) -> Result<(), T> {
        let tail = Position::unpack(tail);
        let last = self.blocks.get(tail.block);
        match last.next(tail.sequence) {
            Next::Stale => return Err(item),
            Next::Block(next) => {
                self.move_tail(tail, next);
                return Err(item);
            }
            Next::None => {}
        }
        let number = self.blocks.allocate();
        // `tail` may be stale: meanwhile this very block may have been its successor, and have come
        // back. If it were prepared with that sequence again, a producer that still has a position
        // in its former life would link a block to it. If `tail` has not moved by now, no block has
        // had the sequence, and only this one can get it. ORDERING: Relaxed: coherence is enough.
        // If this block has been the successor, then the move of `tail` off it happened before its
        // release, and that before `allocate`, so this load sees that move or a later one.
        if self.tail.load(Ordering::Relaxed) != tail.pack() {
            self.blocks.release(number);
            return Err(item);
        }
        let fresh = self.blocks.get(number);
        // SAFETY: the number is from the slab, and not linked yet. By the check above no position
        // of this sequence has ever been in `tail`.
        unsafe { fresh.prepare(tail.sequence.wrapping_add(1), item) };
        if last.link(tail.sequence, number) {
            self.move_tail(tail, number);
            Ok(())
        } else {
            // SAFETY: prepared just now, not linked.
            let item = unsafe { fresh.unprepare() };
            self.blocks.release(number);
            Err(item)
        }
    }

    /// Moves `tail` to the block `next`, which is linked and has an item in its first slot.
    fn move_tail(&self, tail: Position, next: u32) {
        // ORDERING: success Release: pairs with the Acquire loads of `tail`: threads that find the
        // block here see it as this thread prepared it, or acquired it through `next`; and a
        // consumer that must follow sees the link. A failure means that another thread has moved
        // `tail`.
        let _ = self.tail.compare_exchange(
            tail.pack(),
            tail.following(next, 1).pack(),
            Ordering::Release,
            Ordering::Relaxed,
        );
    }
}

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
