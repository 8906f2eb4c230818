//! The consumer's word, and what it does.

use core::marker::PhantomData;

use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::drop_each;

use crate::block::{Block, State};
use crate::position::Position;
use crate::producers::Producers;
use crate::queue::ReopenError;
use crate::scan::Scan;

/// A scan that leaves at most this many slots in the tail's block rewinds it.
const FEW: usize = 1;

/// The consumer's place in the queue.
///
/// Every `unsafe` method has the contract of [`EventQueue::drain`](crate::EventQueue::drain), and
/// its `producers` are those of the same queue.
pub(crate) struct Consumer<T> {
    /// A [`Position`]: before the oldest slot that is not emptied. Only the consumer writes it.
    head: AtomicUsize,
    events: PhantomData<T>,
}

impl<T> Consumer<T> {
    pub(crate) fn new() -> Self {
        Self {
            head: AtomicUsize::new(Position::NONE.to_word()),
            events: PhantomData,
        }
    }

    pub(crate) fn head(&self) -> Position {
        // ORDERING: Relaxed: only the consumer writes it, and the calls of consumers are ordered;
        // `is_empty` of another thread compares it, and follows no address from it.
        Position::from_word(self.head.load(Ordering::Relaxed))
    }

    fn set_head(&self, head: Position) {
        // ORDERING: Relaxed: see `head`.
        self.head.store(head.to_word(), Ordering::Relaxed);
    }

    /// Moves events to `sink` until it returns false. Returns whether there are slots that were
    /// claimed when the call began and that it has not looked at.
    #[inline]
    pub(crate) unsafe fn drain_while(
        &self,
        producers: &Producers<T>,
        mut sink: impl FnMut(T) -> bool,
    ) -> bool {
        let head = self.head();
        let limit = producers.snapshot();
        if head == limit {
            return false;
        }
        // One event, the first of a block that can be rewound: what a short queue has most often.
        if limit.left() <= FEW && limit.is_one_after(head) {
            let (block, index) = (Block::<T>::at(limit.block()), limit.left());
            // SAFETY: a slot lies before the limit, so the limit has a block, which is live, and
            // acquired with it; the caller is the consumer (contract), and the slot is not emptied.
            if unsafe { block.slots() == index + 1 && block.look(index) == State::Full } {
                // Before the call: if the sink panics, the event is gone.
                self.set_head(limit);
                // SAFETY: found just now.
                sink(unsafe { Block::take(limit) });
                // SAFETY: as above; the slot is emptied.
                unsafe { block.clear(index) };
                if producers.rewind(limit, head) {
                    self.set_head(head);
                }
                return false;
            }
        }
        let mut scan = Scan::new(head, limit);
        // SAFETY: as ours; the limit was acquired.
        unsafe { self.run(producers, &mut scan, sink) };
        !scan.is_over()
    }

    /// Moves the events of a scan to `sink` until that returns false. Then, also if `sink` panics,
    /// [stores](Self::store) how far it has got.
    ///
    /// # Safety
    /// As for [`Scan::next`].
    #[inline(never)]
    pub(crate) unsafe fn run(
        &self,
        producers: &Producers<T>,
        scan: &mut Scan,
        mut sink: impl FnMut(T) -> bool,
    ) {
        let mut run = Run {
            consumer: self,
            producers,
            scan: *scan,
            done: scan,
        };
        // SAFETY: as ours.
        while let Some(place) = unsafe { run.scan.next(producers) } {
            // SAFETY: found just now.
            if !sink(unsafe { Block::take(place) }) {
                break;
            }
        }
    }

    /// Stores the head as a scan has left it, and rewinds the tail's block if that pays.
    ///
    /// # Safety
    /// As for [`Scan::next`]; the scan was not over when it went on.
    pub(crate) unsafe fn store(&self, producers: &Producers<T>, scan: &mut Scan) {
        // SAFETY: as ours.
        unsafe { scan.settle(producers) };
        let head = scan.head();
        // A call that finds nothing writes nothing: other threads may poll `is_empty`.
        if head != self.head() {
            self.set_head(head);
        }
        if scan.is_over() && !scan.has_passed() && head.left() <= FEW {
            // SAFETY: as ours; the scan has come to its limit, behind a slot.
            unsafe { self.rewind(producers, head) };
        }
    }

    /// Makes the slots before `end` claimable again, in place, if all of them are emptied and `end`
    /// is still the tail. So a short queue stays in one block and does not allocate.
    ///
    /// # Safety
    /// The caller is the consumer; `end` is the head, and has a block.
    #[inline(never)]
    unsafe fn rewind(&self, producers: &Producers<T>, end: Position) {
        // The second look saves a compare-exchange that would fail, and saves the producers a line.
        if producers.snapshot() != end {
            return;
        }
        let block = Block::<T>::at(end.block());
        // SAFETY: the head's block is live; the caller is the consumer, and everything before the
        // head is emptied.
        let start = unsafe {
            block.clear_from(end.left());
            block.start()
        };
        if producers.rewind(end, start) {
            self.set_head(start);
        }
    }

    /// Moves the head behind the oldest event, and returns that place, if the head's slot is full,
    /// and not its block's last. The caller must [take](Block::take) it. This reads no word that
    /// producers write, but the slot.
    ///
    /// # Safety
    /// Besides the contract of the type: no slot behind the head is emptied.
    #[inline]
    pub(crate) unsafe fn pass_head(&self) -> Option<Position> {
        let head = self.head();
        if head.left() <= 1 {
            return None;
        }
        let next = head.next();
        // SAFETY: the head's block is live, and was acquired when the head came there; no slot from
        // the head on is emptied (contract).
        if unsafe { Block::<T>::at(next.block()).look(next.left()) } != State::Full {
            return None;
        }
        self.set_head(next);
        Some(next)
    }

    pub(crate) unsafe fn pop(&self, producers: &Producers<T>) -> Option<T> {
        let mut oldest = None;
        let sink = |event| {
            oldest = Some(event);
            false
        };
        // SAFETY: as ours.
        unsafe { self.drain_while(producers, sink) };
        oldest
    }

    pub(crate) fn is_empty(&self, producers: &Producers<T>) -> bool {
        self.head() == producers.tail().next
    }

    #[inline]
    pub(crate) unsafe fn shrink(&self, producers: &Producers<T>) -> bool {
        match self.head() {
            // The consumer is in no block, and so keeps none: it does when it goes on to the next.
            Position::NONE => producers.tail().next == Position::NONE,
            // SAFETY: as ours.
            head => unsafe { self.leave_blocks(producers, head) },
        }
    }

    #[cold]
    unsafe fn leave_blocks(&self, producers: &Producers<T>, head: Position) -> bool {
        producers.free_spare();
        let tail = producers.tail();
        let left = head == tail.next && producers.leave_block(tail);
        if left {
            self.set_head(Position::NONE);
            // SAFETY: all claimed slots are emptied, and no word leads to the block any more.
            unsafe { Block::<T>::at(head.block()).free() };
        }
        left
    }

    pub(crate) unsafe fn reopen(&self, producers: &Producers<T>) -> Result<u32, ReopenError> {
        let tail = producers.tail();
        if !tail.closed {
            return Err(ReopenError::Open);
        }
        // A closed tail does not move. So if it is the head, every slot that was ever claimed was
        // filled and emptied, and no push is between its claim and its end.
        if self.head() != tail.next {
            return Err(ReopenError::Unfinished);
        }
        // SAFETY: the caller is the only consumer; for the rest see above.
        Ok(unsafe { producers.open_next_life() })
    }

    /// Drops [each](drop_each) event, and frees the blocks, unless pushes are under way.
    pub(crate) unsafe fn clear(&self, producers: &Producers<T>) {
        // SAFETY: as ours.
        drop_each(|| unsafe {
            let event = self.pop(producers);
            if event.is_none() {
                self.shrink(producers);
            }
            event
        });
    }
}

/// A scan that goes on. Its drop stores how far it has got, also when the sink panics.
struct Run<'a, T> {
    consumer: &'a Consumer<T>,
    producers: &'a Producers<T>,
    /// A copy, not a reference, through which an event would cost a store and two loads.
    scan: Scan,
    done: &'a mut Scan,
}

impl<T> Drop for Run<'_, T> {
    fn drop(&mut self) {
        // SAFETY: made by the consumer, for the time of its call of `run`.
        unsafe { self.consumer.store(self.producers, &mut self.scan) };
        *self.done = self.scan;
    }
}
