//! Both kinds of queue behind one type.

extern crate std;

use std::sync::Arc;

use crate::channel::receiver::Receiver;
use crate::channel::shared::Shared;
use crate::consumer::Consumer;
use crate::producers::Producers;
use crate::queue::EventQueue;
use crate::queue::ReopenError;

pub(super) type Event = (u32, Arc<()>);

/// A consumer, and what it consumes.
pub(super) enum End {
    Embedded(EventQueue<Event>),
    /// A channel, whose `pop` goes on with the scan of the last one.
    Channel(Receiver<Event>),
}

impl End {
    pub(super) fn new(first: usize, largest: usize, is_channel: bool) -> Self {
        if is_channel {
            let shared = Shared::with_blocks(first, largest);
            Self::Channel(Receiver::new(Arc::new(shared)))
        } else {
            Self::Embedded(EventQueue::with_blocks(first, largest))
        }
    }

    pub(super) fn producers(&self) -> &Producers<Event> {
        match self {
            Self::Embedded(queue) => &queue.producers,
            Self::Channel(receiver) => &receiver.shared.producers,
        }
    }

    pub(super) fn consumer(&self) -> &Consumer<Event> {
        match self {
            Self::Embedded(queue) => &queue.consumer,
            Self::Channel(receiver) => &receiver.shared.consumer,
        }
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        match self {
            // SAFETY: here and below: one thread.
            Self::Embedded(queue) => unsafe { queue.pop() },
            Self::Channel(receiver) => receiver.pop(),
        }
    }

    pub(super) fn drain(&mut self, sink: impl FnMut(Event)) -> usize {
        match self {
            // SAFETY: one thread.
            Self::Embedded(queue) => unsafe { queue.drain(sink) },
            Self::Channel(receiver) => receiver.drain(sink),
        }
    }

    pub(super) fn shrink(&mut self) -> bool {
        match self {
            // SAFETY: one thread.
            Self::Embedded(queue) => unsafe { queue.shrink() },
            Self::Channel(receiver) => receiver.shrink(),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Embedded(queue) => queue.is_closed(),
            Self::Channel(receiver) => receiver.shared.is_closed(),
        }
    }

    pub(super) fn reopen(&mut self) -> Result<u32, ReopenError> {
        match self {
            // SAFETY: one thread.
            Self::Embedded(queue) => unsafe { queue.reopen() },
            Self::Channel(receiver) => receiver.reopen(),
        }
    }
}
