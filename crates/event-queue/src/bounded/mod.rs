//! The bounded variant: a ring of slots instead of a list of blocks.

mod channel;
mod pass;
mod position;
mod producers;
mod queue;
mod refused;
mod ring;

pub use channel::{BoundedReceiver, BoundedSender, bounded_channel};
pub use queue::BoundedQueue;
pub use refused::Refused;
