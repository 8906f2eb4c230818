//! What the consumer writes, and what it does.

use alloc::boxed::Box;
use core::marker::PhantomData;

use filch_sync::cell::UnsafeCell;
use filch_sync::drop_each;

use crate::block::Block;
use crate::closed::ReopenError;
use crate::content::{Content, Full};
use crate::head::Head;
use crate::pass::Pass;
use crate::position::Position;
use crate::producers::Producers;

/// A drain that leaves at most this many slots in the tail's block rewinds the block: one RMW, and
/// bursts of up to two events never need a second block.
const FEW: usize = 1;

/// The consumer's place in the queue.
///
/// Every `unsafe` method has the contract of [`EventQueue::drain`](crate::EventQueue::drain), and
/// its `producers` are those of the same queue.
pub(crate) struct Consumer<T, const ALL_WIDE: bool = false> {
    /// Before the oldest slot that is not emptied.
    head: Head<ALL_WIDE>,
    /// The pass of the last call, if it has left holes, as few do. The consumer's alone.
    pass: UnsafeCell<Option<Box<Pass<ALL_WIDE>>>>,
    events: PhantomData<T>,
}

impl<T, const ALL_WIDE: bool> Consumer<T, ALL_WIDE> {
    pub(crate) fn new() -> Self {
        Self {
            head: Head::new(),
            pass: UnsafeCell::new(None),
            events: PhantomData,
        }
    }

    #[inline]
    pub(crate) unsafe fn drain(
        &self,
        producers: &Producers<T, ALL_WIDE>,
        mut sink: impl FnMut(T),
    ) -> usize {
        let mut moved = 0;
        let sink = |event| {
            moved += 1;
            sink(event);
            true
        };
        // SAFETY: as ours.
        unsafe { self.drain_while(producers, sink) };
        moved
    }

    #[inline]
    pub(crate) unsafe fn drain_up_to(
        &self,
        producers: &Producers<T, ALL_WIDE>,
        max: usize,
        mut sink: impl FnMut(T),
    ) -> bool {
        if max == 0 {
            return !self.is_empty(producers);
        }
        let mut left = max;
        let sink = |event| {
            left -= 1;
            sink(event);
            left > 0
        };
        // SAFETY: as ours.
        unsafe { self.drain_while(producers, sink) }
    }

    /// Moves events to `sink` until it returns false. Returns whether there are slots that were
    /// claimed when the call began and that it has not looked at.
    #[inline]
    unsafe fn drain_while(
        &self,
        producers: &Producers<T, ALL_WIDE>,
        mut sink: impl FnMut(T) -> bool,
    ) -> bool {
        let head = self.head();
        let limit = producers.snapshot();
        if head == limit {
            return false;
        }
        // SAFETY: the caller is the only consumer (contract, here and below).
        let holes = unsafe { self.has_holes() };
        // SAFETY: as above; the limit was acquired, and there is no pass.
        if !holes && let Some(event) = unsafe { self.find_only(head, limit) } {
            let moved = self.head.moved(limit);
            // SAFETY: found just now, and taken once: if the sink panics, `moved` moves the head.
            sink(unsafe { event.take() });
            core::mem::forget(moved);
            // SAFETY: the block is live, and now the slot is emptied.
            unsafe { Block::<T>::at(limit.block()).clear(limit.left()) };
            // The tail goes back to where the head still is. If another slot was claimed meanwhile,
            // the head goes on instead.
            if !producers.rewind(limit, head) {
                self.head.set(limit);
            }
            return false;
        }
        // SAFETY: as ours; the limit was acquired.
        unsafe { self.drain_by_pass(producers, Pass::new(head, holes), limit, sink) }
    }

    /// The rest of `drain_while`, if there is not exactly one event. Out of line, so that the short
    /// path pays nothing for it.
    #[inline(never)]
    unsafe fn drain_by_pass(
        &self,
        producers: &Producers<T, ALL_WIDE>,
        pass: Pass<ALL_WIDE>,
        limit: Position<ALL_WIDE>,
        mut sink: impl FnMut(T) -> bool,
    ) -> bool {
        let more = {
            let mut drain = Drain {
                consumer: self,
                producers,
                pass,
            };
            drain.pass.go_on_to(limit);
            // SAFETY: the limit was acquired; this is the newest pass.
            while let Some(event) = unsafe { drain.pass.next(producers) } {
                // SAFETY: found just now.
                if !sink(unsafe { event.take() }) {
                    break;
                }
            }
            drain.pass.at() != limit
        };
        if limit.left() <= FEW {
            // SAFETY: as above.
            unsafe { self.head.rewind(producers, limit) };
        }
        more
    }

    /// The event between `head` and `limit`, if there is exactly one, in the first slot of a block
    /// that can then be rewound. It is what a short queue has most often, and needs no pass.
    ///
    /// # Safety
    /// The caller is the consumer, the limit was acquired and is not the head, and no slot behind
    /// the head is emptied.
    #[inline]
    unsafe fn find_only(
        &self,
        head: Position<ALL_WIDE>,
        limit: Position<ALL_WIDE>,
    ) -> Option<Full<T>> {
        let left = limit.left();
        if left > FEW || !limit.is_one_after(head) {
            return None;
        }
        let block = Block::<T>::at(limit.block());
        // SAFETY: a slot lies before the limit, so the limit has a block, which is live, and
        // acquired with it; the caller is the consumer. If only one slot of the block is claimed,
        // the head is before that one, so it is not emptied.
        match unsafe { (block.slots() - left, block.look(left)) } {
            (1, Content::Event(event)) => Some(event),
            _ => None,
        }
    }

    pub(crate) unsafe fn pop(&self, producers: &Producers<T, ALL_WIDE>) -> Option<T> {
        // SAFETY: as ours.
        match unsafe { self.at_hand() } {
            // SAFETY: found just now.
            Some(event) => Some(unsafe { event.take() }),
            // SAFETY: as ours.
            None => unsafe { self.pop_in_pass(producers) },
        }
    }

    /// The oldest event, if no slot behind the head is emptied, the head's slot is full, and it is
    /// not its block's last; the caller must take it before its next call. This reads no word that
    /// producers write, but the slot.
    #[inline]
    pub(crate) unsafe fn at_hand(&self) -> Option<Full<T>> {
        let head = self.head();
        // SAFETY: the caller is the only consumer (contract, here and below).
        if head.left() <= 1 || unsafe { self.has_holes() } {
            return None;
        }
        let next = head.next();
        // SAFETY: the head's block is live, and was acquired when the head came there; no slot from
        // the head on is emptied.
        match unsafe { Block::<T>::at(next.block()).look(next.left()) } {
            Content::Event(event) => {
                self.head.set(next);
                Some(event)
            }
            _ => None,
        }
    }

    #[cold]
    unsafe fn pop_in_pass(&self, producers: &Producers<T, ALL_WIDE>) -> Option<T> {
        // SAFETY: as ours; in this order.
        unsafe {
            self.pop_in_kept_pass(producers)
                .or_else(|| self.pop_in_new_pass(producers))
        }
    }

    /// Goes on with the kept pass, in its place: all events that come behind a push that is under
    /// way are taken so.
    pub(crate) unsafe fn pop_in_kept_pass(&self, producers: &Producers<T, ALL_WIDE>) -> Option<T> {
        // SAFETY: the caller is the only consumer (contract, here and below); each call keeps its
        // pass or ends it, so this is the newest.
        let (event, at, head) = self.pass.with_mut(|pass| unsafe {
            let pass = (*pass).as_deref_mut()?;
            Some((pass.next(producers), pass.at(), pass.head()))
        })?;
        // SAFETY: found just now.
        let event = event.map(|event| unsafe { event.take() });
        if head == at {
            // Its hole is filled, and it may be over.
            // SAFETY: as above.
            if let Some(pass) = unsafe { self.kept() } {
                // SAFETY: as above.
                unsafe { self.keep(&pass, producers) };
            }
        } else if head != self.head() {
            self.head.set(head);
        }
        event
    }

    /// Makes one more pass, where the kept one, if there is one, is over.
    pub(crate) unsafe fn pop_in_new_pass(&self, producers: &Producers<T, ALL_WIDE>) -> Option<T> {
        // SAFETY: the caller is the only consumer (contract, here and below).
        let mut pass = Pass::new(self.head(), unsafe { self.has_holes() });
        let limit = producers.snapshot();
        if pass.at() == limit {
            return None;
        }
        pass.go_on_to(limit);
        // SAFETY: the limit was acquired; this is the newest pass.
        let event = unsafe { pass.next(producers).map(|event| event.take()) };
        // SAFETY: as above.
        unsafe { self.keep(&pass, producers) };
        if limit.left() == 0 {
            // SAFETY: as above.
            unsafe { self.head.rewind(producers, limit) };
        }
        event
    }

    /// Stores where the consumer is after a pass, or a part of one.
    #[inline]
    unsafe fn keep(&self, pass: &Pass<ALL_WIDE>, producers: &Producers<T, ALL_WIDE>) {
        // A kept pass had holes, so this one has holes, too, until it is settled.
        let head = if pass.has_holes() {
            // SAFETY: as ours.
            unsafe { self.keep_holes(*pass, producers) }
        } else {
            pass.at()
        };
        // A call that finds nothing writes nothing: other threads may poll `is_empty`.
        if head != self.head() {
            self.head.set(head);
        }
    }

    /// Settles the pass, keeps it if it still has holes, and returns where the head is.
    #[cold]
    #[inline(never)]
    unsafe fn keep_holes(
        &self,
        mut pass: Pass<ALL_WIDE>,
        producers: &Producers<T, ALL_WIDE>,
    ) -> Position<ALL_WIDE> {
        // SAFETY: as ours: the newest pass.
        unsafe { pass.settle(producers) };
        // SAFETY: the caller is the only consumer (contract).
        self.pass.with_mut(|kept| match unsafe { &mut *kept } {
            Some(kept) if pass.has_holes() => **kept = pass,
            kept => *kept = pass.has_holes().then(|| Box::new(pass)),
        });
        pass.head()
    }

    pub(crate) fn is_empty(&self, producers: &Producers<T, ALL_WIDE>) -> bool {
        self.head() == producers.tail().next
    }

    #[inline]
    pub(crate) unsafe fn shrink(&self, producers: &Producers<T, ALL_WIDE>) -> bool {
        let head = self.head();
        if head == Position::NONE {
            // The consumer is in no block, and so keeps none: it does when it goes on to the next.
            return producers.tail().next == Position::NONE;
        }
        // SAFETY: as ours.
        unsafe { self.leave_blocks(producers, head) }
    }

    /// The rest of `shrink`, if the head is in a block.
    #[cold]
    unsafe fn leave_blocks(
        &self,
        producers: &Producers<T, ALL_WIDE>,
        head: Position<ALL_WIDE>,
    ) -> bool {
        producers.free_spare();
        let tail = producers.tail();
        let left = head == tail.next && producers.leave_block(tail);
        if left {
            self.head.set(Position::NONE);
            // SAFETY: every claimed slot is emptied, and neither the tail nor the head leads to the
            // block any more. The head was the tail, so there are no holes, and no pass is kept.
            unsafe { Block::<T>::at(head.block()).free() };
        }
        left
    }

    pub(crate) unsafe fn reopen(
        &self,
        producers: &Producers<T, ALL_WIDE>,
    ) -> Result<u32, ReopenError> {
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

    /// Drops the events that are in the queue, also if some of their destructors panic: see
    /// [`drop_each`].
    pub(crate) unsafe fn discard(&self, producers: &Producers<T, ALL_WIDE>) {
        // SAFETY: as ours.
        drop_each(|| unsafe { self.pop(producers) });
    }

    /// Drops the events, as `discard` does, and frees the blocks.
    ///
    /// # Safety
    /// No thread uses the queue any more.
    pub(crate) unsafe fn clear(&self, producers: &Producers<T, ALL_WIDE>) {
        // SAFETY: no call is under way (contract), so every claimed slot is full, and `pop` finds
        // them all. Then one block is left, and no thread competes for the tail.
        drop_each(|| unsafe {
            let event = self.pop(producers);
            if event.is_none() {
                self.shrink(producers);
            }
            event
        });
    }

    /// The pass that an earlier call has kept.
    unsafe fn kept(&self) -> Option<Pass<ALL_WIDE>> {
        // SAFETY: the caller is the only consumer (contract).
        self.pass
            .with(|pass| unsafe { (*pass).as_deref().copied() })
    }

    /// Whether slots behind the head may be emptied.
    unsafe fn has_holes(&self) -> bool {
        // SAFETY: the caller is the only consumer (contract).
        self.pass.with(|pass| unsafe { (*pass).is_some() })
    }

    pub(crate) fn head(&self) -> Position<ALL_WIDE> {
        self.head.get()
    }
}

/// A drain under way. Its drop stores how far it got, also when the sink panics.
struct Drain<'a, T, const ALL_WIDE: bool> {
    consumer: &'a Consumer<T, ALL_WIDE>,
    producers: &'a Producers<T, ALL_WIDE>,
    pass: Pass<ALL_WIDE>,
}

impl<T, const ALL_WIDE: bool> Drop for Drain<'_, T, ALL_WIDE> {
    fn drop(&mut self) {
        // SAFETY: made by the consumer, for the time of its call.
        unsafe { self.consumer.keep(&self.pass, self.producers) };
    }
}
