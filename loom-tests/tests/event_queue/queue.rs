//! The queue that the models are about.

use filch_event_queue::{Closed, EventQueue, PushError, ReopenError};
use filch_sync::Arc;
use loom_tests::Crossing;

/// The queue, all its blocks with `CAP` slots, with a crossing before each call.
pub(crate) struct Queue<T, const CAP: usize> {
    pub(crate) queue: EventQueue<T>,
    crossing: Crossing,
}

impl<T> Queue<T, 1> {
    /// Only the first block with one slot.
    pub(crate) fn with_one_slot() -> Arc<Self> {
        Arc::new(Self {
            queue: EventQueue::with_one_slot(),
            crossing: Crossing::new(),
        })
    }
}

impl<T, const CAP: usize> Queue<T, CAP> {
    pub(crate) fn new() -> Arc<Self> {
        Self::with_first(CAP)
    }

    /// Its first block with `first` slots.
    pub(crate) fn with_first(first: usize) -> Arc<Self> {
        Arc::new(Self {
            queue: EventQueue::with_blocks(first, CAP),
            crossing: Crossing::new(),
        })
    }

    fn cross(&self) -> &EventQueue<T> {
        self.crossing.pass();
        &self.queue
    }

    pub(crate) fn push(&self, event: T) -> Result<(), Closed<T>> {
        self.cross().push(event)
    }

    pub(crate) fn push_in(&self, generation: u32, event: T) -> Result<(), PushError<T>> {
        self.cross().push_in(generation, event)
    }

    /// What one drain delivers. The models call it, and what follows, from one thread per queue.
    pub(crate) fn drain(&self) -> Vec<T> {
        let mut events = Vec::new();
        let moved = self.drain_into(|event| events.push(event));
        assert_eq!(moved, events.len());
        events
    }

    pub(crate) fn drain_into(&self, sink: impl FnMut(T)) -> usize {
        // SAFETY: each model has one consumer.
        unsafe { self.cross().drain(sink) }
    }

    pub(crate) fn drain_up_to(&self, max: usize, sink: impl FnMut(T)) -> bool {
        // SAFETY: as in `drain`.
        unsafe { self.cross().drain_up_to(max, sink) }
    }

    pub(crate) fn pop(&self) -> Option<T> {
        // SAFETY: as in `drain`.
        unsafe { self.cross().pop() }
    }

    pub(crate) fn shrink(&self) -> bool {
        // SAFETY: as in `drain`.
        unsafe { self.cross().shrink() }
    }

    pub(crate) fn reopen(&self) -> Result<u32, ReopenError> {
        // SAFETY: as in `drain`.
        unsafe { self.cross().reopen() }
    }

    pub(crate) fn close(&self) {
        self.cross().close();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cross().is_empty()
    }
}
