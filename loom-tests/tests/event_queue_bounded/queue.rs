//! The queue that the models are about.

use core::num::NonZeroU32;

use filch_event_queue::{BoundedQueue, Refused};
use filch_sync::Arc;
use loom_tests::Crossing;

/// The queue, with a crossing before each call.
pub(crate) struct Queue<T> {
    pub(crate) queue: BoundedQueue<T>,
    crossing: Crossing,
}

impl<T> Queue<T> {
    pub(crate) fn new(capacity: u32) -> Arc<Self> {
        Self::starting_at(capacity, 0)
    }

    /// A queue that has gone round `lap` times.
    pub(crate) fn starting_at(capacity: u32, lap: u64) -> Arc<Self> {
        let capacity = NonZeroU32::new(capacity).unwrap();
        Arc::new(Self {
            queue: BoundedQueue::starting_at(capacity, lap),
            crossing: Crossing::new(),
        })
    }

    fn cross(&self) -> &BoundedQueue<T> {
        self.crossing.pass();
        &self.queue
    }

    pub(crate) fn push(&self, event: T) -> Result<(), Refused<T>> {
        self.cross().push(event)
    }

    /// Whether the event was accepted; if not, the queue was full.
    pub(crate) fn offer(&self, event: T) -> bool {
        match self.push(event) {
            Ok(()) => true,
            Err(refused) => {
                assert!(refused.is_full());
                false
            }
        }
    }

    /// What one drain delivers. The models call it, and what follows, from one thread per queue.
    pub(crate) fn drain(&self) -> Vec<T> {
        let mut events = Vec::new();
        // SAFETY: each model has one consumer.
        let moved = unsafe { self.cross().drain(|event| events.push(event)) };
        assert_eq!(moved, events.len());
        events
    }

    pub(crate) fn pop(&self) -> Option<T> {
        // SAFETY: as in `drain`.
        unsafe { self.cross().pop() }
    }

    pub(crate) fn close(&self) {
        self.cross().close();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cross().is_empty()
    }
}
