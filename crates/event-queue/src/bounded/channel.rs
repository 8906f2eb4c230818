use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU32;

use filch_sync::Arc;

use crate::backoff::let_producers_get_ahead;
use crate::bounded::queue::BoundedQueue;
use crate::bounded::refused::Refused;

/// Bytes between the producers' words and the consumer's: they lie on different lines, and on
/// different pairs of lines where the processor fetches pairs.
const GAP: usize = 128;

/// Creates a queue of at most `capacity` events, and its two ends. Allocates the queue itself; the
/// room for events is allocated by the first push.
///
/// The queue is freed with its last end. The receiver closes it when dropped; the last sender does
/// not, as a queue without senders is no end of a stream but an idle process.
///
/// # Examples
/// ```
/// use core::num::NonZeroU32;
/// use filch_event_queue::{Refused, bounded_channel};
///
/// let capacity = const { NonZeroU32::new(2).unwrap() };
/// let (sender, mut mailbox) = bounded_channel(capacity);
/// sender.push("first").unwrap();
/// sender.push("second").unwrap();
///
/// // Overflow is an outcome, and nobody waits.
/// let mut dropped = 0;
/// match sender.push("third") {
///     Ok(()) => unreachable!(),
///     Err(Refused::Full(_)) => dropped += 1,
///     Err(Refused::Closed(_)) => unreachable!(),
/// }
///
/// assert_eq!(mailbox.pop(), Some("first"));
/// sender.push("fourth").unwrap();
/// let mut rest = Vec::new();
/// mailbox.drain(|event| rest.push(event));
/// assert_eq!((rest, dropped), (vec!["second", "fourth"], 1));
/// ```
///
/// The receiver may not be used by two threads at once:
/// ```compile_fail,E0277
/// # use filch_event_queue::bounded_channel;
/// let (_sender, mailbox) = bounded_channel::<u32>(core::num::NonZeroU32::MIN);
/// std::thread::scope(|scope| {
///     scope.spawn(|| mailbox.is_empty());
/// });
/// ```
/// nor can there be two receivers:
/// ```compile_fail,E0599
/// # use filch_event_queue::bounded_channel;
/// let (_sender, mailbox) = bounded_channel::<u32>(core::num::NonZeroU32::MIN);
/// let second = mailbox.clone();
/// ```
/// and an event must be allowed to change threads:
/// ```compile_fail,E0277
/// # use filch_event_queue::bounded_channel;
/// bounded_channel::<std::rc::Rc<u32>>(core::num::NonZeroU32::MIN);
/// ```
/// What is allowed: senders on any thread, and a receiver that moves.
/// ```
/// # use filch_event_queue::bounded_channel;
/// let (sender, mut mailbox) = bounded_channel::<u32>(core::num::NonZeroU32::MIN);
/// std::thread::scope(|scope| {
///     scope.spawn(|| sender.clone().push(1));
///     scope.spawn(move || mailbox.pop());
/// });
/// ```
pub fn bounded_channel<T: Send>(capacity: NonZeroU32) -> (BoundedSender<T>, BoundedReceiver<T>) {
    let queue = Arc::new(BoundedQueue::new(capacity));
    let sender = BoundedSender {
        queue: Arc::clone(&queue),
    };
    let receiver = BoundedReceiver {
        queue,
        not_sync: PhantomData,
    };
    (sender, receiver)
}

/// The producers' end of a bounded queue: any number of clones, on any threads.
pub struct BoundedSender<T> {
    queue: Arc<BoundedQueue<T, GAP>>,
}

impl<T: Send> BoundedSender<T> {
    /// Appends `event`, if there is room; see [`BoundedQueue::push`]. Lock-free; never waits for
    /// the receiver.
    ///
    /// # Errors
    /// [`Refused`] hands the event back when the queue is full, or when the receiver closed it or
    /// is gone. A push that succeeds while the receiver is being dropped is not lost silently: its
    /// event is dropped, at the latest with the last sender.
    pub fn push(&self, event: T) -> Result<(), Refused<T>> {
        self.queue.push(event)
    }

    /// How many events the queue holds at most. Wait-free.
    pub fn capacity(&self) -> NonZeroU32 {
        self.queue.capacity()
    }

    /// Whether pushes are refused because the queue is closed. Wait-free.
    pub fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }
}

impl<T> Clone for BoundedSender<T> {
    fn clone(&self) -> Self {
        Self {
            queue: Arc::clone(&self.queue),
        }
    }
}

impl<T> fmt::Debug for BoundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoundedSender").field(&*self.queue).finish()
    }
}

/// The consumer's end of a bounded queue: one only. It may move between threads, but is used by one
/// at a time.
///
/// Dropping it closes the queue and drops the events that are in it. An event whose push is under
/// way at that moment is dropped with the last sender; so, if the destructor of an event panics,
/// are those behind it. An event that owns a sender of its own queue keeps the queue alive, and
/// itself, if its push outlives the receiver.
pub struct BoundedReceiver<T> {
    queue: Arc<BoundedQueue<T, GAP>>,
    /// One thread at a time, also for the methods that only look.
    not_sync: PhantomData<Cell<()>>,
}

impl<T: Send> BoundedReceiver<T> {
    /// Moves every event whose push happened before to `sink`, oldest first; returns how many.
    /// Wait-free; see [`BoundedQueue::drain`].
    ///
    /// If it moved something, and a producer has gone on pushing meanwhile, it lets that one get
    /// ahead, and pauses for a few microseconds at most before it returns.
    pub fn drain(&mut self, sink: impl FnMut(T)) -> usize {
        // SAFETY: there is one receiver, borrowed exclusively until this returns.
        let moved = unsafe { self.queue.drain(sink) };
        if moved > 0 && !self.is_empty() {
            let_producers_get_ahead();
        }
        moved
    }

    /// Takes the oldest event, if there is one. Wait-free; see [`BoundedQueue::pop`].
    pub fn pop(&mut self) -> Option<T> {
        // SAFETY: as in `drain`.
        unsafe { self.queue.pop() }
    }

    /// How many events the queue holds at most. Wait-free.
    pub fn capacity(&self) -> NonZeroU32 {
        self.queue.capacity()
    }

    /// Refuses every later push; what is there can still be drained. Wait-free.
    pub fn close(&self) {
        self.queue.close();
    }

    /// Whether every place that a push has claimed is released. `false` right after a drain: a push
    /// is under way, or has completed since. `true` may miss a push that did not happen before: who
    /// goes to sleep on it passes `fence(SeqCst)` first, or believes only the `None` of
    /// [`pop`](Self::pop) and the 0 of [`drain`](Self::drain). Wait-free.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<T> Drop for BoundedReceiver<T> {
    fn drop(&mut self) {
        self.queue.close();
        // SAFETY: there is one receiver, and this is it.
        unsafe { self.queue.drain(drop) };
    }
}

impl<T> fmt::Debug for BoundedReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoundedReceiver")
            .field(&*self.queue)
            .finish()
    }
}
