//! The queue: the positions of its two ends, and all that needs both.

use core::fmt;

use filch_sync::atomic::{AtomicU64, Ordering};
use filch_sync::hint::spin_loop;
use filch_sync::{CachePadded, drop_each};

use crate::block::Blocks;

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
#[doc(alias = "SegQueue")]
pub struct Injector<T, const BLOCK: usize = DEFAULT_BLOCK> {
    /// The next slot that a consumer will claim. Never beyond `tail`.
    pub(crate) head: CachePadded<AtomicU64>,
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
}

impl<T, const BLOCK: usize> Drop for Injector<T, BLOCK> {
    fn drop(&mut self) {
        // No producer is between its claim and its item any more: each claimed slot has an item or
        // is abandoned.
        drop_each(|| self.claim(BLOCK));
    }
}

impl<T, const BLOCK: usize> fmt::Debug for Injector<T, BLOCK> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injector")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Bits of a position's slot index.
const INDEX_BITS: u32 = 7;
/// Bits of a position's block number.
const BLOCK_BITS: u32 = 25;

/// The most slots that a block can have: an index may equal it.
pub(crate) const MAX_SLOTS: usize = (1 << INDEX_BITS) - 1;
/// Block numbers are below this.
pub(crate) const MAX_BLOCKS: u32 = 1 << BLOCK_BITS;

/// A position in the queue: the value of `head` and of `tail`.
///
/// ```text
/// 63            32 31         7 6      0
/// [   sequence    |   block    | index  ]
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The ordinal of the block in the queue, from 0, modulo 2³².
    pub(crate) sequence: u32,
    /// The number, in the slab, of the block that serves as this one.
    pub(crate) block: u32,
    /// The next slot to claim; the number of slots when all are claimed.
    pub(crate) index: u32,
}

impl Position {
    pub(crate) const fn pack(self) -> u64 {
        debug_assert!(self.block < MAX_BLOCKS && self.index as usize <= MAX_SLOTS);
        (self.sequence as u64) << 32 | (self.block as u64) << INDEX_BITS | self.index as u64
    }

    pub(crate) const fn unpack(word: u64) -> Self {
        let low = word as u32;
        Self {
            sequence: (word >> 32) as u32,
            block: low >> INDEX_BITS,
            index: low & ((1 << INDEX_BITS) - 1),
        }
    }

    /// Returns the same block at `index`.
    pub(crate) const fn at(self, index: u32) -> Self {
        Self { index, ..self }
    }

    /// Returns position `index` of the next block of the queue, which is `block`.
    pub(crate) const fn following(self, block: u32, index: u32) -> Self {
        Self {
            sequence: self.sequence.wrapping_add(1),
            block,
            index,
        }
    }
}

/// The one wait of an operation. The first conflict uses it up.
///
/// It is long, and looks at nothing. Short waits with looks cost the other side a cache miss a
/// look; a long one lets the other side do dozens of operations in a row, on lines that stay with
/// it.
pub(crate) struct Backoff {
    pauses: u32,
}

impl Backoff {
    pub(crate) const fn new(pauses: u32) -> Self {
        Self { pauses }
    }

    /// Waits, the first time, and returns true. Later it returns false at once.
    #[cold]
    pub(crate) fn wait(&mut self) -> bool {
        let pauses = core::mem::take(&mut self.pauses);
        for _ in 0..pauses {
            spin_loop();
        }
        pauses > 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Backoff, Injector, MAX_BLOCKS, MAX_SLOTS, Position};

    const ROUNDS: u32 = if cfg!(miri) { 50 } else { 1000 };

    proptest! {
        #[test]
        fn positions_survive_packing(
            sequence: u32,
            block in 0..MAX_BLOCKS,
            index in 0..=MAX_SLOTS as u32,
        ) {
            let position = Position { sequence, block, index };
            prop_assert_eq!(Position::unpack(position.pack()), position);
        }
    }

    #[test]
    fn the_first_wait_uses_it_up() {
        let mut backoff = Backoff::new(3);
        assert_eq!([backoff.wait(), backoff.wait()], [true, false]);
        assert!(!Backoff::new(0).wait());
    }

    #[test]
    fn a_queue_that_stays_short_lives_on_three_blocks() {
        let queue = Injector::<u32, 3>::with_blocks();
        queue.push(0);
        for number in 1..ROUNDS {
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
            for _ in 0..ROUNDS {
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
