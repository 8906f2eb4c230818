//! The queue for embedding, and its errors.

use core::error::Error;
use core::fmt;

use crate::block::Block;
use crate::consumer::Consumer;
use crate::position::Depth;
use crate::producers::{Claim, Producers};

/// An unbounded multi-producer, single-consumer FIFO queue for embedding in a larger object, which
/// decides by other means which thread consumes. [`channel`](crate::channel()) is the safe pair of
/// ends.
///
/// Its drop drops the events that are in it, oldest first. If a destructor panics, the others still
/// run, every block is freed, and then the panic goes on, as with the elements of a `Vec`. Of
/// several panics the first goes on; where there is no operating system, the second aborts.
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
#[doc(alias = "mpsc")]
pub struct EventQueue<T> {
    pub(crate) producers: Producers<T>,
    pub(crate) consumer: Consumer<T>,
}

// SAFETY: the queue owns its events, and they leave it by value, perhaps on another thread:
// `T: Send` is needed and enough. No reference to an event is ever shared.
unsafe impl<T: Send> Send for EventQueue<T> {}
// SAFETY: as above; the tail arbitrates concurrent pushes, and the consuming methods are unsafe.
unsafe impl<T: Send> Sync for EventQueue<T> {}

impl<T> EventQueue<T> {
    /// Makes an empty queue, open, in its first life, which is number 0; allocates nothing.
    pub fn new() -> Self {
        // An allocator gives 2048 bytes for that.
        Self::with_blocks(1, Block::<T>::slots_in(2040, 7))
    }

    /// Makes a queue as [`new`](Self::new) does, with `first` slots in the first block, and at most
    /// `largest` in any; each block has twice as many as the one before, and one. A number below 1,
    /// or above what a block can have, stands for the nearest that is possible: a first block has
    /// at most 255 slots, others 2047; where addresses have 32 bits, all have at most 7.
    pub fn with_blocks(first: usize, largest: usize) -> Self {
        Self {
            producers: Producers::new(first, largest),
            consumer: Consumer::new(),
        }
    }

    /// Appends `event`, whichever life the queue is in. Any thread.
    ///
    /// Lock-free: a round of its loop fails only because another push, a close or the consumer's
    /// reuse of a block succeeded. Allocates a block when the last one is used up and the consumer
    /// has left no spare; aborts when memory runs out.
    ///
    /// The caller's earlier actions happen before the consumer's use of the event. The push does
    /// not wake the consumer: wake it *after* the push has returned, and a drain that begins later
    /// finds the event.
    ///
    /// # Errors
    /// [`Closed`] hands the event back when the queue is closed. What the closing thread did before
    /// [`close`](Self::close) happens before the return of the refused push.
    pub fn push(&self, event: T) -> Result<(), Closed<T>> {
        self.producers.push(event)
    }

    /// Appends `event` if the queue is in the life that [`generation`](Self::generation) named, and
    /// in no later one. Any thread; lock-free, see [`push`](Self::push).
    ///
    /// Exact: an accepted event is delivered in this life, or dropped with the queue.
    ///
    /// # Errors
    /// [`PushError::Closed`] as for `push`; [`PushError::Stale`] if the queue was reopened since,
    /// however the caller has learnt the generation. Both hand the event back. The second gives no
    /// happens-before edge. A caller that has learnt of a reopening without an edge, from
    /// [`generation`](Self::generation) or another relaxed word, may still find the queue closed.
    pub fn push_in(&self, generation: u32, event: T) -> Result<(), PushError<T>> {
        self.producers.push_in(generation, event)
    }

    /// Claims the place of an event that is to come, as [`push`](Self::push) does. `None` if the
    /// queue is closed.
    #[inline]
    pub fn claim(&self) -> Option<Claim<'_, T>> {
        self.producers.claim_any()
    }

    /// Claims the place of an event that is to come, as [`push_in`](Self::push_in) does.
    ///
    /// # Errors
    /// As for `push_in`.
    #[inline]
    pub fn claim_in(&self, generation: u32) -> Result<Claim<'_, T>, PushError<()>> {
        self.producers.claim_in(generation)
    }

    /// The number of the present life. Any thread; wait-free; no happens-before edge.
    ///
    /// Wraps around after 2^32 lives: a producer that slept through exactly that many would be
    /// taken for one of the present life.
    pub fn generation(&self) -> u32 {
        self.producers.generation()
    }

    /// Moves every event whose push happened before this call to `sink`, oldest first; returns how
    /// many were moved.
    ///
    /// Wait-free: one scan of the slots that were claimed when it began. It passes over an event
    /// whose push is still under way, and a later drain delivers that; events that the same thread
    /// pushes later, or a thread that learnt of that push's completion, are never delivered before
    /// it. Pushes that begin during the drain are left for the next one.
    ///
    /// If `sink` panics, it already owns the event it was called with; the rest stay in the queue.
    ///
    /// # Safety
    /// The caller is the only consumer until this returns: no other call of `drain`, `drain_up_to`,
    /// `pop`, `shrink` or `reopen` overlaps, and calls from different threads are ordered by
    /// happens-before. `sink` calls none of them.
    #[inline]
    pub unsafe fn drain(&self, mut sink: impl FnMut(T)) -> usize {
        let mut moved = 0;
        let sink = |event| {
            moved += 1;
            sink(event);
            true
        };
        // SAFETY: as ours.
        unsafe { self.consumer.drain_while(&self.producers, sink) };
        moved
    }

    /// Moves events as [`drain`](Self::drain) does, but `max` at most. Returns whether it stopped
    /// for that reason, before the last of the slots that were claimed when it began.
    ///
    /// For a consumer that has other work to do in between: it calls this again until the answer is
    /// `false`, and need not be woken for what is left. `true` does not promise that a later call
    /// finds an event: pushes may be under way in the slots that are left.
    ///
    /// Each call begins a new scan, so the order is that of [`drain`](Self::drain). The first call
    /// that meets a backlog walks over its blocks once, to link them, but not over the events.
    ///
    /// # Safety
    /// As for [`drain`](Self::drain).
    #[inline]
    pub unsafe fn drain_up_to(&self, max: usize, mut sink: impl FnMut(T)) -> bool {
        if max == 0 {
            return !self.is_empty();
        }
        let mut left = max;
        let sink = |event| {
            left -= 1;
            sink(event);
            left > 0
        };
        // SAFETY: as ours.
        unsafe { self.consumer.drain_while(&self.producers, sink) }
    }

    /// Takes the oldest event, as [`drain_up_to`](Self::drain_up_to) one event, or `None` if no
    /// push had completed when it looked. Wait-free.
    ///
    /// # Safety
    /// As for [`drain`](Self::drain).
    pub unsafe fn pop(&self) -> Option<T> {
        // SAFETY: as ours.
        unsafe { self.consumer.pop(&self.producers) }
    }

    /// Refuses every later push; what is in the queue can still be drained. Any thread; wait-free;
    /// closing twice is harmless.
    ///
    /// A push that claimed its slot before may still be under way: its event appears in a drain
    /// after it has completed, or is dropped with the queue.
    pub fn close(&self) {
        self.producers.close();
    }

    /// Says whether the queue [is closed](Self::close). Any thread; wait-free. No happens-before
    /// edge.
    pub fn is_closed(&self) -> bool {
        self.producers.tail().closed
    }

    /// Says whether every claimed slot is emptied. Any thread; wait-free. No happens-before edge.
    ///
    /// Exact on the consumer's thread, except in a `sink`: `false` after a drain means that a push
    /// has begun. For any other thread it is a hint, because the queue may move on between the two
    /// loads that it compares.
    pub fn is_empty(&self) -> bool {
        self.consumer.is_empty(&self.producers)
    }

    /// Counts the events that wait, for people. Any thread; wait-free. No happens-before edge.
    /// Pushes that are under way count, and so do events behind one of these that a drain has taken
    /// already.
    pub fn depth(&self) -> Depth {
        Depth::between(self.consumer.head(), self.producers.tail().next)
    }

    /// Frees the blocks if the queue is empty, so that only its inline size is left; the next push
    /// allocates. Frees the spare block in any case. Returns whether no block is left. Wait-free.
    ///
    /// # Safety
    /// As for [`drain`](Self::drain).
    #[inline]
    pub unsafe fn shrink(&self) -> bool {
        // SAFETY: as ours.
        unsafe { self.consumer.shrink(&self.producers) }
    }

    /// Opens the queue again, for its next life, and returns the number of that. Keeps the block
    /// that is there. Wait-free.
    ///
    /// # Errors
    /// [`ReopenError`] if the queue is not closed, not emptied, or a push is under way.
    ///
    /// # Safety
    /// As for [`drain`](Self::drain).
    pub unsafe fn reopen(&self) -> Result<u32, ReopenError> {
        // SAFETY: as ours.
        unsafe { self.consumer.reopen(&self.producers) }
    }
}

impl<T> Drop for EventQueue<T> {
    fn drop(&mut self) {
        // SAFETY: exclusive access.
        unsafe { self.consumer.clear(&self.producers) };
    }
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for EventQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventQueue")
            .field("empty", &self.is_empty())
            .field("closed", &self.is_closed())
            .field("generation", &self.generation())
            .finish_non_exhaustive()
    }
}

/// The event of a refused push, handed back: the queue is closed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Closed<T>(pub T);

impl<T> Closed<T> {
    /// The event that was not pushed.
    pub fn into_inner(self) -> T {
        self.0
    }
}

// By hand: an event that cannot be printed must not keep `unwrap` and `?` from its users.
impl<T> fmt::Debug for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closed(..)")
    }
}

impl<T> fmt::Display for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the event queue is closed")
    }
}

impl<T> Error for Closed<T> {}

/// The event of a refused push that was meant for one life of the queue, handed back.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PushError<T> {
    /// The queue is closed; a later life may follow.
    Closed(T),
    /// The life that the push was meant for is over, and the queue was reopened since.
    Stale(T),
}

impl<T> PushError<T> {
    /// The event that was not pushed.
    pub fn into_inner(self) -> T {
        match self {
            Self::Closed(event) | Self::Stale(event) => event,
        }
    }
}

impl<T> fmt::Debug for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PushError({self})")
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed(_) => "the event queue is closed",
            Self::Stale(_) => "this life of the event queue is over",
        })
    }
}

impl<T> Error for PushError<T> {}

/// The reason why a queue was not reopened. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReopenError {
    /// It is not closed.
    Open,
    /// Events are left in it, or a push that came before the close is still under way. Drain it,
    /// and try again.
    Unfinished,
}

impl fmt::Display for ReopenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "the event queue is not closed",
            Self::Unfinished => "the event queue is not emptied, or a push is under way",
        })
    }
}

impl Error for ReopenError {}
