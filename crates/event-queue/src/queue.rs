use core::fmt;
use core::marker::PhantomData;

use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::block::{Block, NewBlock};
use crate::closed::Closed;
use crate::position::{Position, Tail};
use crate::scan::Scan;

/// An unbounded multi-producer, single-consumer FIFO queue for embedding in a larger object, which proves by other
/// means who consumes. [`channel`](crate::channel) is the safe pair of ends.
///
/// At most 64 bytes, and nothing is allocated before the first event. `CAP`, 1 to 31, is the number of slots in a
/// block: the unit of allocation.
///
/// The algorithm, with its proof, is described in [`algorithm`](crate::algorithm).
///
/// # Examples
/// A process whose state word says which worker runs it; that worker alone consumes.
/// ```
/// use filch_event_queue::EventQueue;
///
/// struct Process {
///     events: EventQueue<u64>,
/// }
///
/// let process = Process { events: EventQueue::new() };
/// process.events.push(1).unwrap();
/// process.events.push(2).unwrap();
///
/// let mut batch = Vec::new();
/// // SAFETY: this thread runs the process; nobody else consumes.
/// let moved = unsafe { process.events.drain(|event| batch.push(event)) };
/// assert_eq!((moved, batch), (2, vec![1, 2]));
///
/// process.events.close();
/// assert_eq!(process.events.push(3).unwrap_err().into_inner(), 3);
/// ```
pub struct EventQueue<T, const CAP: usize = 8> {
    /// A [`Tail`]. Every change is an RMW, so all of them form one release sequence.
    tail: AtomicUsize,
    /// A [`Position`]: the oldest slot that is not emptied. Written by the consumer only.
    head: AtomicUsize,
    /// The pass that `pop` is in. The consumer's alone.
    scan: UnsafeCell<Scan>,
    events: PhantomData<T>,
}

// SAFETY: the queue owns its events, and they leave it by value: on another thread, for which `T: Send` is needed
// and enough. No reference to an event is ever shared.
unsafe impl<T: Send, const CAP: usize> Send for EventQueue<T, CAP> {}
// SAFETY: as above; concurrent pushes are arbitrated by `tail`, and consuming is an unsafe contract.
unsafe impl<T: Send, const CAP: usize> Sync for EventQueue<T, CAP> {}

impl<T, const CAP: usize> EventQueue<T, CAP> {
    /// No block, and no slot left in it: the first push installs one.
    const NO_BLOCK: Position = Position {
        block: 0,
        index: CAP,
    };

    /// Empty and open; allocates nothing.
    pub fn new() -> Self {
        Self {
            tail: AtomicUsize::new(Tail::open(Self::NO_BLOCK).to_word()),
            head: AtomicUsize::new(Self::NO_BLOCK.to_word()),
            scan: UnsafeCell::new(Scan::over()),
            events: PhantomData,
        }
    }

    /// Appends `event`. Any thread.
    ///
    /// Lock-free: a round of its loop fails only because another push, a close or the consumer's reuse of a block
    /// succeeded. Allocates one block for every `CAP` events that are waiting; aborts when memory runs out.
    ///
    /// What the caller did before happens before what the consumer does with the event. The consumer is not woken:
    /// wake it *after* the push has returned, and a drain that begins later finds the event.
    ///
    /// # Errors
    /// [`Closed`] hands the event back when the queue is closed. What the closing thread did before
    /// [`close`](Self::close) happens before the return of the refused push.
    pub fn push(&self, event: T) -> Result<(), Closed<T>> {
        let mut new_block: Option<NewBlock<T, CAP>> = None;
        // ORDERING: Acquire, with the Release of `close`: a refused push comes after the close. A claim does not
        // rely on it: its own RMW acquires.
        let mut tail = Tail::from_word(self.tail.load(Ordering::Acquire));
        let claimed = loop {
            if tail.closed {
                return Err(Closed(event));
            }
            let claimed = if tail.next.index < CAP {
                tail.next
            } else {
                let block = new_block.get_or_insert_with(NewBlock::new);
                Position::first_of(block.follow(tail.next.block))
            };
            // ORDERING: success Acquire, with whatever installed or rewound this block: its memory is ready for us. The
            // load has acquired that if the word is still the same one; but it may be the same *again*, after a rewind.
            // Success Release, with the consumer's snapshot: a block and its `prev` are visible with the tail that
            // leads to them, and so is every push that this thread knows to be complete; without the second, the
            // consumer could pass over such a push and deliver ours first. Failure Acquire as for the load above.
            match self.tail.compare_exchange_weak(
                tail.to_word(),
                Tail::open(claimed.next()).to_word(),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => break claimed,
                Err(now) => tail = Tail::from_word(now),
            }
        };
        if tail.next.index == CAP
            && let Some(block) = new_block
        {
            block.published();
        }
        // SAFETY: the tail's word was ours to change, so `claimed` is a slot of a live block, and ours alone. It stays
        // live until the slot is full, because the consumer frees no block with an unfilled slot that was claimed.
        unsafe { Block::<T, CAP>::fill(Block::<T, CAP>::at(claimed.block), claimed.index, event) };
        Ok(())
    }

    /// Moves every event whose push happened before this call to `sink`, oldest first; returns how many were moved.
    ///
    /// Wait-free: one pass over the slots that were claimed when it began. An event whose push is still under way is
    /// passed over, and a later drain delivers it; later pushes of the same thread, or of a thread that learnt of
    /// that push's completion, are never delivered before it. Pushes that begin during the drain are left for the
    /// next one.
    ///
    /// If `sink` panics, the event it was called with is gone, and the rest stay in the queue.
    ///
    /// # Safety
    /// The caller is the only consumer until this returns: no other call of `drain`, `pop`, `shrink` or `reopen`
    /// overlaps, and calls from different threads are ordered by happens-before. `sink` calls none of them.
    pub unsafe fn drain(&self, mut sink: impl FnMut(T)) -> usize {
        // SAFETY: the caller is the only consumer. The pass is kept here and not in the queue, whose cache line the
        // producers write; and should `sink` panic, the next pass starts from the head.
        self.scan.with_mut(|scan| unsafe { *scan = Scan::over() });
        let mut scan = self.begin_scan();
        let mut moved = 0;
        // SAFETY: the caller is the only consumer, and the pass began above.
        while let Some(event) = unsafe { scan.next::<T, CAP>(|block| self.set_head(block)) } {
            moved += 1;
            sink(event);
        }
        // Rewinding costs one RMW: at most one per drain, and per half a block of events. In return bursts of up to half
        // a block never reach the block's end, so they never allocate.
        // SAFETY: the caller is the only consumer, and this was its pass.
        unsafe { self.settle(&scan, CAP.div_ceil(2)) };
        moved
    }

    /// Takes the oldest event, or `None` if no push had completed when it looked.
    ///
    /// Delivers in the order of [`drain`](Self::drain), and may be mixed with it. Wait-free: at most the rest of an
    /// old pass and one new one.
    ///
    /// # Safety
    /// As for [`drain`](Self::drain).
    pub unsafe fn pop(&self) -> Option<T> {
        // SAFETY: the caller is the only consumer.
        let mut scan = self.scan.with(|scan| unsafe { *scan });
        // SAFETY: the caller is the only consumer; the pass, if there is one, is the newest, because each consuming
        // call stores its pass, or ends the stored one, before it returns.
        let mut event = unsafe { scan.next::<T, CAP>(|block| self.set_head(block)) };
        if event.is_none() {
            scan = self.begin_scan();
            // SAFETY: the caller is the only consumer, and the pass began above.
            event = unsafe { scan.next::<T, CAP>(|block| self.set_head(block)) };
        }
        // SAFETY: the caller is the only consumer.
        self.scan.with_mut(|stored| unsafe { *stored = scan });
        // Rewinding only a block that is used up keeps `pop` at one RMW per `CAP` events.
        // SAFETY: the caller is the only consumer, and this was its pass.
        unsafe { self.settle(&scan, CAP) };
        event
    }

    /// Refuses every later push; what is in the queue can still be drained. Any thread; wait-free; closing twice is
    /// harmless.
    ///
    /// A push that claimed its slot before may still be under way: its event appears in a drain after it has
    /// completed, or is dropped with the queue.
    pub fn close(&self) {
        // ORDERING: Release, with the Acquire load in `push`: see there. An RMW, because a store could undo a claim,
        // and would cut the release sequence that the consumer's snapshot relies on.
        self.tail.fetch_or(Tail::CLOSED, Ordering::Release);
    }

    /// Whether [`close`](Self::close) was called. Any thread; wait-free. No happens-before edge.
    pub fn is_closed(&self) -> bool {
        // ORDERING: Relaxed: the answer is about the word alone.
        Tail::from_word(self.tail.load(Ordering::Relaxed)).closed
    }

    /// Whether every claimed slot is emptied. Any thread; wait-free. No happens-before edge.
    ///
    /// Exact on the consumer's thread: `false` after a drain means that a push has begun. For any other thread it is a
    /// hint, as the queue moves on between the two words that it compares.
    pub fn is_empty(&self) -> bool {
        // ORDERING: Relaxed, both: the answer is about the words alone; the consumer wrote the first itself.
        let head = Position::from_word(self.head.load(Ordering::Relaxed));
        let tail = Tail::from_word(self.tail.load(Ordering::Relaxed));
        head == tail.next
    }

    /// Frees the last block if the queue is empty, so that it is back to its inline size; the next push allocates.
    /// Returns whether no block is left. Wait-free.
    ///
    /// # Safety
    /// As for [`drain`](Self::drain).
    pub unsafe fn shrink(&self) -> bool {
        let head = self.head_position();
        // ORDERING: Relaxed: the consumer's own RMW below decides.
        let tail = Tail::from_word(self.tail.load(Ordering::Relaxed));
        if head.block == 0 {
            return tail.next.block == 0;
        }
        let emptied = Tail {
            next: Self::NO_BLOCK,
            ..tail
        };
        // ORDERING: Relaxed: the new word leads to no memory. Success means that no slot was claimed beyond those that
        // the consumer emptied, and each of those it acquired.
        let freed = head == tail.next
            && self
                .tail
                .compare_exchange(
                    tail.to_word(),
                    emptied.to_word(),
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                )
                .is_ok();
        if freed {
            // SAFETY: the caller is the only consumer. The stored pass must not keep the address of a freed block.
            self.scan.with_mut(|scan| unsafe { *scan = Scan::over() });
            self.store_head(Self::NO_BLOCK);
            // SAFETY: every claimed slot is emptied, and neither the tail nor the head leads to the block any more.
            unsafe { Block::<T, CAP>::free(head.block) };
        }
        freed
    }

    /// Opens the queue again, for a new life of the object around it. Events that are left are dropped; a block that
    /// is there is used again.
    ///
    /// # Safety
    /// As for [`drain`](Self::drain), and no `push` is under way: each earlier one happened before, each later one
    /// happens after.
    pub unsafe fn reopen(&self) {
        // SAFETY: as ours.
        unsafe { self.drain(drop) };
        // ORDERING: Relaxed: exclusive access (contract) orders everything. An RMW, to keep `tail` one release sequence.
        self.tail.fetch_and(!Tail::CLOSED, Ordering::Relaxed);
    }

    /// A new pass, over what is claimed now.
    fn begin_scan(&self) -> Scan {
        // ORDERING: Acquire, with the Release of every claim up to here (one release sequence of RMWs): the blocks can be
        // walked, and a push that completed before any of these claims is seen as complete.
        let tail = Tail::from_word(self.tail.load(Ordering::Acquire));
        Scan::new(self.head_position(), tail.next)
    }

    /// Notes how far the queue is emptied; and if the pass emptied all of the tail's block, and at least `worthwhile`
    /// slots of it were used, starts that block over.
    ///
    /// # Safety
    /// The caller is the only consumer, and `scan` is the pass that it just made.
    unsafe fn settle(&self, scan: &Scan, worthwhile: usize) {
        if let Some(end) = scan.end()
            && end.index >= worthwhile
        {
            // SAFETY: as ours; the pass ended there.
            unsafe { self.rewind(end) };
        }
        let head = self.head_position();
        if head.block != 0 {
            // SAFETY: the head's block is live; the caller is the only consumer.
            let index = unsafe { (*Block::<T, CAP>::at(head.block)).first_left() };
            self.store_head(Position { index, ..head });
        }
    }

    /// Tries to use the slots before `end` again, in place, if all of them are emptied and `end` is the tail still: a
    /// short queue lives in one block and never allocates.
    ///
    /// # Safety
    /// The caller is the only consumer, and its newest pass ended at `end`, in a block.
    unsafe fn rewind(&self, end: Position) {
        // SAFETY: the limit's block is live: a pass frees only blocks before it.
        let block = unsafe { &*Block::<T, CAP>::at(end.block) };
        // SAFETY: the caller is the only consumer.
        if unsafe { block.first_left() } != end.index {
            return;
        }
        // SAFETY: the caller is the only consumer, and these slots are emptied.
        unsafe { block.clear_flags(end.index) };
        // ORDERING: success Release, with the Acquire of the claims that follow: values were read, and flags cleared,
        // before a producer writes the slots again. Failure Relaxed: another slot was claimed, or a block installed, or
        // the queue closed; the emptied slots stay noted as such, and their flags are not looked at again.
        let rewound = self
            .tail
            .compare_exchange(
                Tail::open(end).to_word(),
                Tail::open(Position::first_of(end.block)).to_word(),
                Ordering::Release,
                Ordering::Relaxed,
            )
            .is_ok();
        if rewound {
            // SAFETY: the caller is the only consumer; flags are cleared and the tail is rewound.
            unsafe { block.forget_taken() };
        }
    }

    fn head_position(&self) -> Position {
        // ORDERING: Relaxed: only the consumer writes it, and the calls of consumers are ordered.
        Position::from_word(self.head.load(Ordering::Relaxed))
    }

    fn set_head(&self, block: usize) {
        self.store_head(Position::first_of(block));
    }

    fn store_head(&self, head: Position) {
        // ORDERING: Relaxed: `is_empty` of another thread compares it, and follows no address from it.
        self.head.store(head.to_word(), Ordering::Relaxed);
    }
}

impl<T, const CAP: usize> Drop for EventQueue<T, CAP> {
    fn drop(&mut self) {
        // SAFETY: exclusive access: nobody consumes, and no push is under way, so every claimed slot is full, and one
        // pass empties them all.
        unsafe { self.drain(drop) };
        // SAFETY: as above. The queue is empty, so at most one block is left, and nobody competes for the tail.
        unsafe { self.shrink() };
    }
}

impl<T, const CAP: usize> Default for EventQueue<T, CAP> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const CAP: usize> fmt::Debug for EventQueue<T, CAP> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventQueue")
            .field("empty", &self.is_empty())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
