//! The producers' end.

use core::fmt;

use filch_sync::Arc;

use super::shared::Shared;
use crate::position::Depth;
use crate::queue::PushError;

/// The producers' end, for one life of the queue: any number of clones, on any threads.
#[doc(alias = "UnboundedSender")]
pub struct Sender<T> {
    pub(super) shared: Arc<Shared<T>>,
    generation: u32,
}

impl<T: Send> Sender<T> {
    /// Appends `event`, and wakes the receiver if it [waits](super::Receiver::recv).
    ///
    /// Lock-free, as [`EventQueue::push_in`](crate::EventQueue::push_in); the push that ends a
    /// sleep calls the receiver's waker besides. What the caller did before happens before what the
    /// receiver does with the event.
    ///
    /// # Errors
    /// [`PushError::Closed`] when the receiver closed the queue or is gone, [`PushError::Stale`]
    /// when it has reopened it since this sender was made. Both hand the event back. One that is
    /// taken while the receiver is being dropped is dropped, by the last sender at the latest.
    ///
    /// # Panics
    /// If the receiver's waker panics, and with that panic. The event is in the queue.
    #[inline]
    #[doc(alias = "send")]
    pub fn push(&self, event: T) -> Result<(), PushError<T>> {
        self.shared.producers.push_in(self.generation, event)?;
        if self.shared.sleeper.is_asleep() {
            self.shared.sleeper.wake();
        }
        Ok(())
    }

    /// The number of the life for which this sender was made. Wait-free.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Checks if the queue is closed, or was reopened since. Wait-free. No happens-before edge.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed() || self.shared.producers.generation() != self.generation
    }

    /// Counts the events that wait, as [`EventQueue::depth`](crate::EventQueue::depth) does.
    pub fn depth(&self) -> Depth {
        let tail = self.shared.producers.tail().next;
        Depth::between(self.shared.consumer.head(), tail)
    }
}

impl<T> Sender<T> {
    /// Makes one more, for the life of that number.
    pub(super) fn new(shared: &Arc<Shared<T>>, generation: u32) -> Self {
        shared.join();
        Self {
            shared: Arc::clone(shared),
            generation,
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self::new(&self.shared, self.generation)
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.leave();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("queue", &*self.shared)
            .field("generation", &self.generation)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::boxed::Box;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::Arc;

    use crate::block::Block;
    use crate::channel::channel;

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
        let producers = &sender.shared.producers;
        let stalled = [1, 2, 3].map(|number| (producers.claim(), number));
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
