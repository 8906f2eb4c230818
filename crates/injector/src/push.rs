//! The producers' end.

use filch_sync::atomic::Ordering;

use crate::Injector;
use crate::block::Next;
use crate::patience::Patience;
use crate::position::{MAX_BLOCKS, Position};
use crate::reserved::Reserved;

impl<T: Send, const BLOCK: usize> Injector<T, BLOCK> {
    /// Adds `item` at the back. Lock-free, but for the global allocator, which new blocks come
    /// from.
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

    /// Adds `items` at the back, in order, with a claim for many of them. Lock-free, but for the
    /// global allocator and the iterator.
    ///
    /// Each item is a push of its own: others may see some of the batch before the rest, and their
    /// own items may come between. Places are claimed for as many items as
    /// [`size_hint`](Iterator::size_hint) promises (as far as the block goes), before the iterator
    /// gives them: consumers wait for an item that takes long, once, and then go on without it, so
    /// that it comes later. An iterator that gives fewer, or panics, has only wasted places; and
    /// what it gave before is in the queue.
    ///
    /// # Panics
    ///
    /// As [`push`](Self::push), and if the iterator does.
    ///
    /// ```
    /// use filch_injector::Injector;
    ///
    /// let global = Injector::new();
    /// // What a worker has too much of, in one go.
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

    /// Pushes `item` after a failed attempt. Apart from the first one: what it needs would burden
    /// every push.
    #[cold]
    fn push_again(&self, item: T) {
        let mut item = item;
        let mut patience = Patience::new(self.pauses);
        loop {
            // Whoever was quicker is likely to go on: leave it the lines for a while.
            patience.wait();
            match self.try_push(item) {
                Ok(()) => return,
                Err(back) => item = back,
            }
        }
    }

    /// Pushes `item`, or gives it back after a conflict.
    #[inline]
    fn try_push(&self, item: T) -> Result<(), T> {
        // ORDERING: Acquire: pairs with the Release of `move_tail`: the block is seen as it was
        // prepared, and its slots as their former users left them.
        let tail = Position::unpack(self.tail.load(Ordering::Acquire));
        if tail.index as usize == BLOCK {
            self.push_block(tail, item)
        } else {
            self.push_slot(tail, item)
        }
    }

    /// Claims the slot at `tail` for `item`, or gives it back: `tail` has moved, or the slot was
    /// burnt.
    #[inline]
    fn push_slot(&self, tail: Position, item: T) -> Result<(), T> {
        if !self.reserve(tail, 1) {
            return Err(item);
        }
        // Looked up only now: before the exchange, the look-up would hold it up.
        let block = self.block(tail.block);
        // SAFETY: the index of this block was claimed, once: `tail` only moves forward.
        unsafe { block.fill(tail.index, item) }.inspect_err(|_| self.finish(tail, 1))
    }

    /// Claims as many slots from `tail` on as `items` promises items, for `first` and those, and
    /// fills them. Gives back the item that comes next after a conflict: `tail` has moved, or the
    /// item's slot was burnt.
    fn push_run(&self, first: T, items: &mut impl Iterator<Item = T>) -> Result<(), T> {
        // ORDERING: Acquire: as in `try_push`.
        let tail = Position::unpack(self.tail.load(Ordering::Acquire));
        let room = BLOCK - tail.index as usize;
        if room == 0 {
            return self.push_block(tail, first);
        }
        let count = items.size_hint().0.saturating_add(1).min(room) as u32;
        if !self.reserve(tail, count) {
            return Err(first);
        }
        // SAFETY: claimed just now.
        let mut slots = unsafe { Reserved::new(self, tail, count) };
        slots.fill(first)?;
        while !slots.is_empty()
            && let Some(item) = items.next()
        {
            slots.fill(item)?;
        }
        Ok(())
    }

    /// Claims `count` slots from `tail` on, all of its block, unless `tail` has moved.
    #[inline]
    fn reserve(&self, tail: Position, count: u32) -> bool {
        // ORDERING: success Relaxed: the load has acquired the block, and whoever finds this
        // position acquires what it needs from the `move_tail` that led to the block: an RMW goes
        // on with its release sequence. The items are published by the slots' states. Failure
        // Relaxed: the caller loads again. (Not the weak one: who fails for no reason would wait
        // for nobody.)
        let exchanged = self.tail.compare_exchange(
            tail.pack(),
            tail.at(tail.index + count).pack(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        exchanged.is_ok()
    }

    /// Appends a block with `item` in its first slot, or gives it back: somebody else has appended
    /// one, and `tail` is on the move.
    #[cold]
    fn push_block(&self, tail: Position, item: T) -> Result<(), T> {
        let last = self.block(tail.block);
        match last.next(tail.sequence) {
            Next::Stale => return Err(item),
            Next::Block(next) => {
                self.move_tail(tail, next);
                return Err(item);
            }
            Next::None => {}
        }
        let Ok(number) = self.blocks.allocate() else {
            panic!("the injector is full: {MAX_BLOCKS} blocks are in use");
        };
        // `tail` may be stale, and this very block may have been its successor in the meantime, and
        // come back. Were it prepared with that sequence again, a producer that still has a
        // position in its former life would link a block to it. If `tail` has not moved by now, no
        // block has had the sequence, and only this one can get it. ORDERING: Relaxed: coherence is
        // enough. If this block has been the successor, then `tail` moving off it happened before
        // its release, and that before `allocate`, so this load sees that move or a later one.
        if self.tail.load(Ordering::Relaxed) != tail.pack() {
            self.blocks.release(number);
            return Err(item);
        }
        let fresh = self.block(number);
        // SAFETY: the number is from the slab, and not linked yet. The check above gives that no
        // position of this sequence has ever been in `tail`.
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

    /// Moves `tail` to the block `next`, which is linked, and whose first slot has its item
    /// already.
    fn move_tail(&self, tail: Position, next: u32) {
        // ORDERING: success Release: pairs with the Acquire loads of `tail`: the block that this
        // thread has prepared, or acquired through `next`, is seen by those who find it here; so is
        // the link, by a consumer that must follow. A failure means that somebody else has moved
        // it.
        let _ = self.tail.compare_exchange(
            tail.pack(),
            tail.following(next, 1).pack(),
            Ordering::Release,
            Ordering::Relaxed,
        );
    }
}
