//! The messages in a scheduler's queue.

use crate::envelope::Envelope;
use crate::worker::spec::Spec;

pub(crate) enum Message {
    /// For each worker that lists its type.
    Task(Envelope),
    /// All others, in a box, so that a message is as small as most are.
    Order(Box<Order>),
}

const _: () = assert!(size_of::<Message>() == 4 * size_of::<usize>());

pub(crate) enum Order {
    /// A task for that worker alone.
    TaskFor(usize, Envelope),
    /// A new worker.
    Add(Box<Spec>),
    /// No more workers come. The present ones have been told to end.
    Terminate,
}

impl From<Order> for Message {
    fn from(order: Order) -> Self {
        Self::Order(Box::new(order))
    }
}
