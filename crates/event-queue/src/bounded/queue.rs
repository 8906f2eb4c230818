use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU32;
use core::ptr;

use filch_sync::atomic::{AtomicU64, Ordering, fence};
use filch_sync::cell::UnsafeCell;

use crate::bounded::pass::{Pass, clear_taken};
use crate::bounded::position::{Laps, Position, Tail};
use crate::bounded::producers::Producers;
use crate::bounded::refused::Refused;
use crate::bounded::ring::Slot;

/// A bounded multi-producer, single-consumer FIFO queue for embedding in a larger object, which
/// proves by other means who consumes. [`bounded_channel`](crate::bounded_channel) is the safe pair
/// of ends.
///
/// 72 bytes and `GAP`; the ring of slots is allocated by the first push, and stays until the queue
/// is dropped. `GAP` is how many bytes lie between the words of the producers and those of the
/// consumer: 0 for a small queue, 128 for one that is busy on several cores.
///
/// The algorithm, with its proof, is described in
/// [`bounded_algorithm`](crate::bounded_algorithm).
///
/// # Examples
/// A process whose state word says which worker runs it; that worker alone consumes.
/// ```
/// use core::num::NonZeroU32;
/// use filch_event_queue::{BoundedQueue, Refused};
///
/// struct Process {
///     mailbox: BoundedQueue<u64>,
/// }
///
/// let capacity = const { NonZeroU32::new(3).unwrap() };
/// let process = Process { mailbox: BoundedQueue::new(capacity) };
/// for event in 1..=3 {
///     process.mailbox.push(event).unwrap();
/// }
/// assert_eq!(process.mailbox.push(4), Err(Refused::Full(4)));
///
/// let mut batch = Vec::new();
/// // SAFETY: this thread runs the process; nobody else consumes.
/// let moved = unsafe { process.mailbox.drain(|event| batch.push(event)) };
/// assert_eq!((moved, batch), (3, vec![1, 2, 3]));
/// process.mailbox.push(4).unwrap();
/// ```
#[repr(C)]
pub struct BoundedQueue<T, const GAP: usize = 0> {
    producers: Producers<T>,
    gap: [u8; GAP],
    consumer: Consumer<T>,
    events: PhantomData<T>,
}

/// What a consuming call touches, besides the slots, as long as it finds the oldest slot full.
struct Consumer<T> {
    /// A [`Position`]: all places before it are released. Written by the consumer only.
    head: AtomicU64,
    /// The ring's first slot, or null while the consumer has not seen a claim. The consumer's
    /// alone.
    slots: UnsafeCell<*const Slot<T>>,
    laps: Laps,
}

// SAFETY: the queue owns its events, and they leave it by value: on another thread, for which `T:
// Send` is needed and enough. No reference to an event is ever shared.
unsafe impl<T: Send, const GAP: usize> Send for BoundedQueue<T, GAP> {}
// SAFETY: as above; concurrent pushes are arbitrated by `tail`, and consuming is an unsafe
// contract.
unsafe impl<T: Send, const GAP: usize> Sync for BoundedQueue<T, GAP> {}

impl<T, const GAP: usize> BoundedQueue<T, GAP> {
    /// Empty and open; allocates nothing.
    pub fn new(capacity: NonZeroU32) -> Self {
        Self::starting_at(capacity, 0)
    }

    /// As [`new`](Self::new), with positions that begin in the given lap: for tests of what happens
    /// where the counter wraps.
    #[doc(hidden)]
    pub fn starting_at(capacity: NonZeroU32, lap: u64) -> Self {
        let laps = Laps::of(capacity);
        let start = laps.first_of(lap).to_word();
        Self {
            producers: Producers::new(laps, start),
            gap: [0; GAP],
            consumer: Consumer {
                head: AtomicU64::new(start),
                slots: UnsafeCell::new(ptr::null()),
                laps,
            },
            events: PhantomData,
        }
    }

    /// How many events the queue holds at most. Any thread; wait-free.
    pub fn capacity(&self) -> NonZeroU32 {
        self.producers.laps.capacity()
    }

    /// Appends `event`, if there is room. Any thread. Never waits for the consumer.
    ///
    /// Lock-free: a round of its loop fails only because another push or a close succeeded. The
    /// first push of all allocates the ring; aborts when memory runs out.
    ///
    /// What the caller did before happens before what the consumer does with the event. The
    /// consumer is not woken: wake it *after* the push has returned, and a drain that begins later
    /// finds the event.
    ///
    /// # Errors
    /// [`Refused`] hands the event back.
    ///
    /// * [`Full`](Refused::Full): at one moment during the call, all places were in use. A place is
    ///   in use from the claim of a push, which may still be under way, until the consumer has
    ///   taken its event **and** those of all earlier claims. What the consumer did before it
    ///   released a place happens before the return of the push that gets it.
    /// * [`Closed`](Refused::Closed): the queue is closed. What the closing thread did before
    ///   [`close`](Self::close) happens before the return of the refused push.
    pub fn push(&self, event: T) -> Result<(), Refused<T>> {
        self.producers.push(event, &self.consumer.head)
    }

    /// Moves every event whose push happened before to `sink`, oldest first; returns how many.
    ///
    /// Events whose push is under way may be moved or left; they never hold up those behind them.
    /// Events that are pushed while the call runs may be moved or left too. 0 means that at one
    /// moment during the call, no complete push had its event in the queue. An event's place is
    /// released before `sink` is called with it (unless an older event is still being pushed): the
    /// sink may push to this very queue. If `sink` panics, the event that it was given is gone and
    /// all others stay.
    ///
    /// Wait-free, but for `sink`: each slot is looked at three times at most.
    ///
    /// # Safety
    /// One thread at a time calls the consuming methods of a queue (`drain`, `pop`, `reopen`), and
    /// each such call happens before the next one. Not from within `sink`.
    pub unsafe fn drain(&self, mut sink: impl FnMut(T)) -> usize {
        let mut moved = 0;
        let mut walk = |mut pass: Pass<T>| {
            // SAFETY: the caller is the only consumer, and the pass began just before.
            while let Some(event) = unsafe { self.advance(&mut pass) } {
                moved += 1;
                sink(event);
            }
            moved
        };
        if walk(self.pass()) == 0 {
            walk(self.pass_after_fence());
        }
        moved
    }

    /// Takes the oldest event, or `None` if at one moment during the call no complete push had its
    /// event in the queue.
    ///
    /// Delivers in the order of [`drain`](Self::drain), and may be mixed with it. Wait-free: if the
    /// oldest slot is full, it is looked at, with what was taken behind it and the slot after that;
    /// else each slot three times at most.
    ///
    /// # Safety
    /// As for [`drain`](Self::drain).
    pub unsafe fn pop(&self) -> Option<T> {
        // SAFETY: here and below: the caller is the only consumer, and a pass begins just before it
        // is used.
        unsafe { self.pop_front() }
            .or_else(|| unsafe { self.advance(&mut self.pass()) })
            .or_else(|| unsafe { self.advance(&mut self.pass_after_fence()) })
    }

    /// Refuses every later push; what is in the queue can still be drained. Any thread; wait-free;
    /// closing twice is harmless.
    ///
    /// A push that claimed its place before may still be under way: its event appears in a drain
    /// after it has completed, or is dropped with the queue.
    pub fn close(&self) {
        // ORDERING: Release, with the Acquire load in `push`: see there. An RMW, because a store
        // could undo a claim, and would cut the release sequence that the consumer's snapshot
        // relies on.
        self.producers
            .tail
            .fetch_or(Tail::CLOSED, Ordering::Release);
    }

    /// Whether [`close`](Self::close) was called. Any thread; wait-free. No happens-before edge.
    pub fn is_closed(&self) -> bool {
        // ORDERING: Relaxed: the answer is about the word alone.
        Tail::from_word(self.producers.tail.load(Ordering::Relaxed)).closed
    }

    /// Whether every claimed place is released. Any thread; wait-free. No happens-before edge.
    ///
    /// On the consumer's thread, `false` after a drain means that a push has begun. `true` may miss
    /// a push that did not happen before: who goes to sleep on it passes `fence(SeqCst)` first, or
    /// believes only the `None` of [`pop`](Self::pop) and the 0 of [`drain`](Self::drain). For any
    /// other thread both are hints, as the queue moves on between the two words that it compares.
    pub fn is_empty(&self) -> bool {
        // ORDERING: Relaxed: the answer is about the words alone.
        let tail = Tail::from_word(self.producers.tail.load(Ordering::Relaxed));
        self.head() == tail.next
    }

    /// Opens the queue again, for a new life of the object around it. Events that are left are
    /// dropped; the ring, if there is one, is used again.
    ///
    /// # Safety
    /// As for [`drain`](Self::drain), and no `push` is under way: each earlier one happened before,
    /// each later one happens after.
    pub unsafe fn reopen(&self) {
        // SAFETY: as ours.
        unsafe { self.drain(drop) };
        // ORDERING: Relaxed: exclusive access (contract) orders everything. An RMW, to keep `tail`
        // one release sequence.
        self.producers
            .tail
            .fetch_and(!Tail::CLOSED, Ordering::Relaxed);
    }

    /// The event in the oldest slot that is not emptied, if it is full. Releases the slot, and what
    /// was emptied before its turn behind it.
    ///
    /// No snapshot of the tail is needed: nothing in the queue was claimed before this event. So
    /// the consumer, while it finds slots full, leaves the producers' line alone.
    ///
    /// # Safety
    /// The caller is the only consumer.
    unsafe fn pop_front(&self) -> Option<T> {
        let Consumer { slots, laps, .. } = &self.consumer;
        // SAFETY: the caller is the only consumer.
        let slots = slots.with(|slots| unsafe { *slots });
        if slots.is_null() {
            return None;
        }
        let head = self.head();
        // SAFETY: the ring is allocated, and the index lies in it.
        let slot = unsafe { &*slots.add(laps.index(head)) };
        if !slot.is_full(laps.full_mark(head)) {
            return None;
        }
        // SAFETY: the caller is the only consumer; full, and the slot at the head is not taken.
        let event = unsafe { slot.empty() };
        // SAFETY: the caller is the only consumer; this ring, and the place behind the head.
        self.release(unsafe { clear_taken(slots, *laps, laps.next(head)) });
        Some(event)
    }

    /// A new pass, over what is claimed now.
    fn pass(&self) -> Pass<T> {
        let Producers { tail, ring, .. } = &self.producers;
        // ORDERING: Acquire, with the Release of every claim up to here (one release sequence of
        // RMWs): the ring is there, and a push that completed before any of these claims is seen as
        // complete.
        let limit = Tail::from_word(tail.load(Ordering::Acquire)).next;
        Pass::new(self.head(), limit, ring.get())
    }

    /// A new pass that sees every claim which a push counted before it found the queue full in
    /// spite of what the consumer has released. For the last look before "nothing there".
    fn pass_after_fence(&self) -> Pass<T> {
        // ORDERING: SeqCst, between the stores of the head and the load of the tail; with the fence
        // in `look_for_room`: see there.
        fence(Ordering::SeqCst);
        self.pass()
    }

    /// The next event of `pass`. Releases what can be released.
    ///
    /// # Safety
    /// The caller is the only consumer, and nobody has consumed since the pass began, but by this
    /// function with this pass.
    unsafe fn advance(&self, pass: &mut Pass<T>) -> Option<T> {
        let Consumer { slots, laps, .. } = &self.consumer;
        // SAFETY: the caller is the only consumer.
        slots.with_mut(|slots| unsafe { *slots = pass.slots() });
        let old = self.head();
        let mut head = old;
        // SAFETY: as ours; `pass` makes passes with an acquired limit and this ring.
        let event = unsafe { pass.next(*laps, &mut head) };
        if head != old {
            self.release(head);
        }
        event
    }

    /// Gives the slots before `head` back to the producers.
    fn release(&self, head: Position) {
        // ORDERING: Release, with the Acquire of producers: values were moved out before their
        // slots are written again.
        self.consumer.head.store(head.to_word(), Ordering::Release);
    }

    fn head(&self) -> Position {
        // ORDERING: Relaxed: only the consumer writes it, and the calls of consumers are ordered;
        // `is_empty` of another thread compares it only.
        Position::from_word(self.consumer.head.load(Ordering::Relaxed))
    }
}

impl<T, const GAP: usize> Drop for BoundedQueue<T, GAP> {
    fn drop(&mut self) {
        /// Drops what is left and frees the ring, also when the destructor of an event unwinds.
        struct Rest<'a, T, const GAP: usize>(&'a mut BoundedQueue<T, GAP>);

        impl<T, const GAP: usize> Rest<'_, T, GAP> {
            fn drop_all(&mut self) {
                // SAFETY: exclusive access: nobody consumes, and no push is under way, so every
                // claimed slot is full, and one pass empties them all.
                unsafe { self.0.drain(drop) };
            }
        }

        impl<T, const GAP: usize> Drop for Rest<'_, T, GAP> {
            fn drop(&mut self) {
                self.drop_all();
                let capacity = self.0.capacity();
                // SAFETY: exclusive access; each ring is allocated with the queue's capacity.
                unsafe { self.0.producers.ring.free(capacity) };
            }
        }

        Rest(self).drop_all();
    }
}

impl<T, const GAP: usize> fmt::Debug for BoundedQueue<T, GAP> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundedQueue")
            .field("capacity", &self.capacity())
            .field("empty", &self.is_empty())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
