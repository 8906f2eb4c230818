//! The queue, and the consumers' end of it.

use core::fmt;

use filch_deque::Worker;
use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicU64, Ordering};

use crate::backoff::Backoff;
use crate::block::Blocks;
use crate::block::{Abandon, Next};
use crate::claim::Claim;
use crate::position::{MAX_SLOTS, Position};

/// Slots of a block: 2 KB of pointers. A change of blocks takes half a dozen exchanges on words
/// that both sides want, a few hundred nanoseconds between two cores; with 31 slots that is 7 ns
/// per item.
const DEFAULT_BLOCK: usize = 127;

/// The pauses of an operation's one wait: 4 µs where the processor's pause takes 8 ns, 20 µs where
/// it takes 40.
const PAUSES: u32 = 511;

/// A FIFO queue for any number of producers and consumers, lock-free at both ends.
///
/// It is linearizable: every push and every take has its effect at one moment between its call and
/// its return. Everything that a thread did before [`push`](Self::push) happens before the
/// operation that takes the item returns.
///
/// `BLOCK`, at least 1 and at most 127, is the number of items per block, and bounds what one batch
/// takes.
///
/// The queue is Michael and Scott's (*Simple, Fast, and Practical Non-Blocking and Blocking
/// Concurrent Queue Algorithms*, PODC 1996) with blocks for nodes; slots are claimed and abandoned
/// as in Ramalhete and Correia's *FAAArrayQueue* (2016), after Morrison and Afek's *LCRQ* (PPoPP
/// 2013). See [`algorithm`](crate::algorithm).
///
/// ```
/// use filch_injector::Injector;
///
/// let queue = Injector::new();
/// for job in ["fetch", "parse", "index", "store"] {
///     queue.push(job);
/// }
/// // One claim: the oldest to run now, and up to two more for later.
/// let mut later = Vec::new();
/// assert_eq!(queue.pop_batch(2, |job| later.push(job)), Some("fetch"));
/// assert_eq!(later, ["parse", "index"]);
/// assert_eq!(queue.pop(), Some("store"));
/// assert_eq!(queue.pop(), None);
/// ```
pub struct Injector<T, const BLOCK: usize = DEFAULT_BLOCK> {
    /// The next slot that a consumer will claim. Never beyond `tail`.
    head: CachePadded<AtomicU64>,
    /// The next slot that a producer will claim.
    pub(crate) tail: CachePadded<AtomicU64>,
    pub(crate) blocks: Blocks<T, BLOCK>,
    /// The length of an operation's one wait.
    pub(crate) pauses: u32,
}

impl<T: Send> Injector<T> {
    /// Makes an empty queue with one block.
    pub fn new() -> Self {
        Self::with_blocks()
    }
}

impl<T: Send> Default for Injector<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send, const BLOCK: usize> Injector<T, BLOCK> {
    /// Makes an empty queue with one block of `BLOCK` slots. A `BLOCK` outside of `1..=127` does
    /// not compile.
    ///
    /// ```
    /// let queue: filch_injector::Injector<_, 2> = filch_injector::Injector::with_blocks();
    /// queue.push("an item");
    /// ```
    ///
    /// ```compile_fail
    /// let queue: filch_injector::Injector<_, 128> = filch_injector::Injector::with_blocks();
    /// queue.push("an item");
    /// ```
    pub fn with_blocks() -> Self {
        Self::with_backoff(PAUSES)
    }

    /// [`with_blocks`](Self::with_blocks), for tests: an operation waits for at most `pauses`
    /// pauses. With none, a consumer abandons each slot that it finds claimed and not filled.
    #[doc(hidden)]
    pub fn with_backoff(pauses: u32) -> Self {
        const { assert!(1 <= BLOCK && BLOCK <= MAX_SLOTS) };
        let blocks = Blocks::new();
        let first = Position {
            sequence: 0,
            block: blocks.allocate(),
            index: 0,
        };
        Self {
            head: CachePadded::new(AtomicU64::new(first.pack())),
            tail: CachePadded::new(AtomicU64::new(first.pack())),
            blocks,
            pauses,
        }
    }

    /// Returns the most blocks ever in use at once; for tests, which see here a block that leaks.
    #[doc(hidden)]
    pub fn most_blocks(&self) -> u32 {
        self.blocks.high_water()
    }

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
    pub fn pop_batch_into(&self, into: &Worker<T>, more: usize) -> Option<T> {
        let mut claim = self.claim(more.saturating_add(1))?;
        let first = claim.next();
        // SAFETY: the claim knows nothing of the deque.
        unsafe { into.push_together(claim.len(), || claim.next().expect("it has as many")) };
        first
    }
}

impl<T, const BLOCK: usize> Injector<T, BLOCK> {
    /// Returns whether the queue was empty at some moment during the call. Wait-free.
    ///
    /// `true` is exact. `false` may come from a push that has claimed a place and not filled it
    /// yet: a consumer that comes first finds nothing there, and the push takes a later place. Or
    /// from places that [`push_batch`](Self::push_batch) has abandoned and no consumer has passed
    /// yet.
    ///
    /// A consumer that is going to sleep announces that, passes a `fence(SeqCst)` and calls this;
    /// the producer pushes, passes a `fence(SeqCst)` and looks for announcements. Then one of them
    /// sees the other, or a third thread has taken the item.
    pub fn is_empty(&self) -> bool {
        let (head, tail) = self.ends();
        head == tail
    }

    /// Returns roughly the number of items: exact if nobody pushes or takes meanwhile. Wait-free.
    ///
    /// It counts pushes that have claimed a place and not filled it yet, and places that
    /// [`push_batch`](Self::push_batch) has abandoned, until a consumer has passed them.
    pub fn len(&self) -> usize {
        let (head, tail) = self.ends();
        let blocks = tail.sequence.wrapping_sub(head.sequence) as usize;
        blocks * BLOCK + tail.index as usize - head.index as usize
    }

    /// Reads `head`, and then `tail`: never behind it, and equal only if the queue is empty when
    /// `tail` is read.
    pub(crate) fn ends(&self) -> (Position, Position) {
        // ORDERING: Acquire: pairs with the Release of the exchanges of `head`. Their thread had
        // read a `tail` that is not behind the new head, and coherence gives this thread that one
        // or a later one.
        let head = self.head.load(Ordering::Acquire);
        // ORDERING: Relaxed: the two are compared; nothing is reached through them.
        let tail = self.tail.load(Ordering::Relaxed);
        (Position::unpack(head), Position::unpack(tail))
    }

    /// Claims between one and `wanted` items by one exchange; none if the queue is empty.
    fn claim(&self, wanted: usize) -> Option<Claim<'_, T, BLOCK>> {
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

impl<T, const BLOCK: usize> Drop for Injector<T, BLOCK> {
    fn drop(&mut self) {
        /// Drops the items that are left, also when the destructor of one of them unwinds.
        struct Rest<'a, T, const BLOCK: usize>(&'a Injector<T, BLOCK>);

        impl<T, const BLOCK: usize> Rest<'_, T, BLOCK> {
            fn drop_all(&self) {
                // No producer is between its claim and its item any more: each claimed slot has an
                // item or is abandoned.
                while self.0.claim(BLOCK).is_some() {}
            }
        }

        impl<T, const BLOCK: usize> Drop for Rest<'_, T, BLOCK> {
            fn drop(&mut self) {
                self.drop_all();
            }
        }

        Rest(self).drop_all();
    }
}

impl<T, const BLOCK: usize> fmt::Debug for Injector<T, BLOCK> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injector")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Injector;

    #[test]
    fn a_queue_that_stays_short_lives_on_three_blocks() {
        let queue = Injector::<u32, 3>::with_blocks();
        queue.push(0);
        for number in 1..1000 {
            queue.push(number);
            assert_eq!(queue.pop(), Some(number - 1));
        }
        assert!(queue.most_blocks() <= 3, "blocks are not reused");
    }

    /// Gives one item; before it ends, it takes twice, if `takes` says so.
    fn short_batch(queue: &Injector<u32, 3>, takes: bool) -> impl Iterator<Item = u32> {
        let mut turns = 0..2;
        core::iter::from_fn(move || {
            let turn = turns.next()?;
            if turn == 1 && takes {
                // The second take abandons the place that this batch still holds.
                assert_eq!((queue.pop(), queue.pop()), (Some(0), None));
            }
            (turn == 0).then_some(turn)
        })
    }

    #[test]
    fn abandoned_places_are_finished_by_the_second_of_the_two() {
        /// Always promises one more item.
        struct Boastful<I>(I);
        impl<I: Iterator> Iterator for Boastful<I> {
            type Item = I::Item;
            fn next(&mut self) -> Option<I::Item> {
                self.0.next()
            }
            fn size_hint(&self) -> (usize, Option<usize>) {
                (1, None)
            }
        }
        for consumer_is_first in [false, true] {
            let queue = Injector::<u32, 3>::with_backoff(0);
            for _ in 0..1000 {
                queue.push_batch(Boastful(short_batch(&queue, consumer_is_first)));
                if !consumer_is_first {
                    assert_eq!((queue.pop(), queue.pop()), (Some(0), None));
                }
                assert!(queue.is_empty());
            }
            assert!(queue.most_blocks() <= 3, "blocks are not reused");
        }
    }
}
