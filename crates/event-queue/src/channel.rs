use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;

use filch_sync::Arc;

use crate::{Closed, EventQueue};

/// Creates a queue and its two ends. Allocates the queue itself, and no room for events.
///
/// The queue is freed with its last end. The receiver closes it when dropped; the last sender does
/// not, as a queue without senders is no end of a stream but an idle process.
///
/// # Examples
/// ```
/// let (sender, mut receiver) = filch_event_queue::channel();
/// let worker = std::thread::spawn({
///     let sender = sender.clone();
///     move || sender.push("from the worker")
/// });
/// worker.join().unwrap().unwrap();
/// sender.push("from the main thread").unwrap();
///
/// assert_eq!(receiver.pop(), Some("from the worker"));
/// assert_eq!(receiver.pop(), Some("from the main thread"));
/// assert_eq!(receiver.pop(), None);
///
/// drop(receiver);
/// assert_eq!(sender.push("too late").unwrap_err().into_inner(), "too late");
/// ```
pub fn channel<T: Send>() -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(EventQueue::new());
    let sender = Sender {
        queue: Arc::clone(&queue),
    };
    let receiver = Receiver {
        queue,
        not_sync: PhantomData,
    };
    (sender, receiver)
}

/// The producers' end: any number of clones, on any threads.
pub struct Sender<T> {
    queue: Arc<EventQueue<T>>,
}

impl<T: Send> Sender<T> {
    /// Appends `event`; see [`EventQueue::push`]. Lock-free.
    ///
    /// # Errors
    /// [`Closed`] hands the event back when the receiver closed the queue or is gone. A push that
    /// succeeds while the receiver is being dropped is not lost silently: its event is dropped, at
    /// the latest with the last sender.
    pub fn push(&self, event: T) -> Result<(), Closed<T>> {
        self.queue.push(event)
    }

    /// Whether pushes are refused. Wait-free.
    pub fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self {
            queue: Arc::clone(&self.queue),
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sender").field(&*self.queue).finish()
    }
}

/// The consumer's end: one only. It may move between threads, but is used by one at a time.
///
/// Dropping it closes the queue and drops the events that are in it. An event whose push is under
/// way at that moment is dropped with the last sender.
pub struct Receiver<T> {
    queue: Arc<EventQueue<T>>,
    /// One thread at a time, also for the methods that only look.
    not_sync: PhantomData<Cell<()>>,
}

impl<T: Send> Receiver<T> {
    /// Moves every event whose push happened before to `sink`, oldest first; returns how many.
    /// Wait-free; see [`EventQueue::drain`].
    pub fn drain(&mut self, sink: impl FnMut(T)) -> usize {
        // SAFETY: there is one receiver, borrowed exclusively until this returns.
        unsafe { self.queue.drain(sink) }
    }

    /// Takes the oldest event, if there is one. Wait-free; see [`EventQueue::pop`].
    pub fn pop(&mut self) -> Option<T> {
        // SAFETY: as in `drain`.
        unsafe { self.queue.pop() }
    }

    /// Gives the memory of an empty queue back; see [`EventQueue::shrink`]. Wait-free.
    pub fn shrink(&mut self) -> bool {
        // SAFETY: as in `drain`.
        unsafe { self.queue.shrink() }
    }

    /// Refuses every later push; what is there can still be drained. Wait-free.
    pub fn close(&self) {
        self.queue.close();
    }

    /// Whether every slot that a push has claimed is emptied. `false` right after a drain: a push
    /// is under way, or has completed since. Wait-free.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.queue.close();
        // SAFETY: there is one receiver, and this is it.
        unsafe { self.queue.drain(drop) };
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Receiver").field(&*self.queue).finish()
    }
}
