//! The queue that the models are about.

use filch_event_queue::{Closed, EventQueue};
use filch_sync::Arc;
use loom_tests::Crossing;

/// The queue, with a crossing before each call.
pub(crate) struct Queue<T, const CAP: usize> {
    pub(crate) queue: EventQueue<T, CAP>,
    crossing: Crossing,
}

impl<T, const CAP: usize> Queue<T, CAP> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            queue: EventQueue::new(),
            crossing: Crossing::new(),
        })
    }

    fn cross(&self) -> &EventQueue<T, CAP> {
        self.crossing.pass();
        &self.queue
    }

    pub(crate) fn push(&self, event: T) -> Result<(), Closed<T>> {
        self.cross().push(event)
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

    pub(crate) fn shrink(&self) -> bool {
        // SAFETY: as in `drain`.
        unsafe { self.cross().shrink() }
    }

    pub(crate) fn close(&self) {
        self.cross().close();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cross().is_empty()
    }
}
