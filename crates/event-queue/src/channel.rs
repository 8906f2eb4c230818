//! The safe pair of ends: any number of senders, one receiver.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;

use filch_sync::{Arc, CachePadded};

use crate::backoff::let_producers_get_ahead;
use crate::closed::{PushError, ReopenError};
use crate::consumer::Consumer;
use crate::producers::Producers;
use crate::queue::sizes_of_channel;

/// The queue behind the ends. The producers' words and the consumer's lie on different lines: there
/// are few channels, and their ends are on different cores.
struct Queue<T> {
    producers: CachePadded<Producers<T>>,
    consumer: CachePadded<Consumer<T>>,
}

// SAFETY: as for `EventQueue`; the one consumer is the receiver.
unsafe impl<T: Send> Send for Queue<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Queue<T> {}

impl<T> Queue<T> {
    fn is_empty(&self) -> bool {
        self.consumer.is_empty(&self.producers)
    }

    fn is_closed(&self) -> bool {
        self.producers.tail().closed
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        // SAFETY: exclusive access.
        unsafe { self.consumer.clear(&self.producers) };
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("empty", &self.is_empty())
            .field("closed", &self.is_closed())
            .field("generation", &self.producers.generation())
            .finish_non_exhaustive()
    }
}

/// Creates a queue and its two ends. Allocates the queue itself, and no room for events.
///
/// The queue is freed with its last end. The receiver closes it when dropped. The last sender does
/// not: a queue without senders is an idle process, not the end of a stream.
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
    let sizes = sizes_of_channel::<T>();
    let queue = Arc::new(Queue {
        producers: CachePadded::new(Producers::new(sizes)),
        consumer: CachePadded::new(Consumer::new()),
    });
    let receiver = Receiver {
        queue,
        not_sync: PhantomData,
    };
    (receiver.sender(), receiver)
}

/// The producers' end, for one life of the queue: any number of clones, on any threads.
pub struct Sender<T> {
    queue: Arc<Queue<T>>,
    generation: u32,
}

impl<T: Send> Sender<T> {
    /// Appends `event`; see [`EventQueue::push_in`](crate::EventQueue::push_in). Lock-free.
    ///
    /// # Errors
    /// [`PushError::Closed`] when the receiver closed the queue or is gone, [`PushError::Stale`]
    /// when it has reopened it since this sender was made. Both hand the event back. If a push
    /// succeeds while the receiver is being dropped, its event is dropped, too, at the latest with
    /// the last sender.
    pub fn push(&self, event: T) -> Result<(), PushError<T>> {
        self.queue.producers.push_in(self.generation, event)
    }

    /// The number of the life for which this sender was made. Wait-free.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether pushes of this sender are refused: the queue is closed, or was reopened. Wait-free.
    /// No happens-before edge.
    pub fn is_closed(&self) -> bool {
        self.queue.is_closed() || self.queue.producers.generation() != self.generation
    }

    /// Whether every slot that a push has claimed is emptied: a hint, since the queue may move on
    /// meanwhile. Wait-free. No happens-before edge.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self {
            queue: Arc::clone(&self.queue),
            generation: self.generation,
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("queue", &*self.queue)
            .field("generation", &self.generation)
            .finish()
    }
}

/// The consumer's end, of which there is one. It may move between threads, but one at a time uses
/// it.
///
/// Its drop closes the queue and drops the events that are in it. An event whose push is under way
/// at that moment is dropped with the last sender. Destructors that panic do so as in the drop of
/// an [`EventQueue`](crate::EventQueue).
pub struct Receiver<T> {
    queue: Arc<Queue<T>>,
    /// Not Sync: one thread at a time, also for the methods that only look.
    not_sync: PhantomData<Cell<()>>,
}

impl<T: Send> Receiver<T> {
    /// Moves every event whose push happened before to `sink`, oldest first; returns how many.
    /// Wait-free; see [`EventQueue::drain`](crate::EventQueue::drain).
    ///
    /// If it moved an event, and a producer has gone on pushing meanwhile, it lets the producer get
    /// ahead: it pauses for a few microseconds before it returns.
    pub fn drain(&mut self, sink: impl FnMut(T)) -> usize {
        // SAFETY: there is one receiver, borrowed exclusively until this returns.
        let moved = unsafe { self.queue.consumer.drain(&self.queue.producers, sink) };
        if moved > 0 && !self.is_empty() {
            let_producers_get_ahead();
        }
        moved
    }

    /// Takes the oldest event, if there is one. Wait-free; see
    /// [`EventQueue::pop`](crate::EventQueue::pop).
    pub fn pop(&mut self) -> Option<T> {
        // SAFETY: as in `drain`.
        unsafe { self.queue.consumer.pop(&self.queue.producers) }
    }

    /// Gives the memory of an empty queue back; see
    /// [`EventQueue::shrink`](crate::EventQueue::shrink). Wait-free.
    pub fn shrink(&mut self) -> bool {
        // SAFETY: as in `drain`.
        unsafe { self.queue.consumer.shrink(&self.queue.producers) }
    }

    /// Refuses every later push; what is there can still be drained. Wait-free.
    pub fn close(&self) {
        self.queue.producers.close();
    }

    /// Opens a closed queue again. All senders made before stay refused; those that
    /// [`sender`](Self::sender) makes from now on are heard. Returns the number of the new life.
    /// Wait-free.
    ///
    /// # Errors
    /// [`ReopenError`] if the queue is not closed, not emptied, or a push is under way.
    ///
    /// # Examples
    /// ```
    /// use filch_event_queue::{PushError, ReopenError, channel};
    ///
    /// let (early, mut receiver) = channel();
    /// early.push("first life").unwrap();
    /// receiver.close();
    /// assert_eq!(early.push("closed"), Err(PushError::Closed("closed")));
    ///
    /// assert_eq!(receiver.reopen(), Err(ReopenError::Unfinished));
    /// assert_eq!(receiver.pop(), Some("first life"));
    /// assert_eq!(receiver.reopen(), Ok(1));
    ///
    /// assert_eq!(early.push("stale"), Err(PushError::Stale("stale")));
    /// receiver.sender().push("second life").unwrap();
    /// assert_eq!(receiver.pop(), Some("second life"));
    /// ```
    pub fn reopen(&mut self) -> Result<u32, ReopenError> {
        // SAFETY: as in `drain`.
        unsafe { self.queue.consumer.reopen(&self.queue.producers) }
    }

    /// The number of the present life, from 0. Wait-free.
    pub fn generation(&self) -> u32 {
        self.queue.producers.generation()
    }

    /// A sender for the present life. If the queue is closed, its pushes are refused.
    pub fn sender(&self) -> Sender<T> {
        Sender {
            queue: Arc::clone(&self.queue),
            generation: self.generation(),
        }
    }

    /// Whether every slot that a push has claimed is emptied. `false` right after a drain: a push
    /// is under way, or has completed since. Wait-free.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.queue.producers.close();
        // SAFETY: there is one receiver, and this is it.
        unsafe { self.queue.consumer.discard(&self.queue.producers) };
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Receiver").field(&*self.queue).finish()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::boxed::Box;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::Arc;

    use super::channel;
    use crate::block::Block;

    /// Panics with its number when it is dropped.
    struct Loud {
        number: u32,
        _alive: Arc<()>,
    }

    impl Drop for Loud {
        fn drop(&mut self) {
            resume_unwind(Box::new(self.number));
        }
    }

    /// Pushes that are under way while the receiver goes. No caller can make a push stall, so this
    /// test stands in the crate.
    #[test]
    fn the_last_sender_drops_all_whatever_panics() {
        let alive = Arc::new(());
        let (sender, receiver) = channel::<Loud>();
        let producers = &sender.queue.producers;
        let stalled = [1, 2, 3].map(|number| (producers.claim().unwrap(), number));
        drop(receiver);
        for (place, number) in stalled {
            let _alive = Arc::clone(&alive);
            let event = Loud { number, _alive };
            // SAFETY: claimed above, and filled once.
            unsafe { Block::at(place.block()).fill(place.left() - 1, event) };
        }
        let panic = catch_unwind(AssertUnwindSafe(|| drop(sender))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&1_u32));
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
