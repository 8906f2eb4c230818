#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}

mod backoff;
mod block;
mod channel;
mod closed;
mod consumer;
mod content;
mod depth;
mod head;
mod new_block;
mod pass;
mod position;
mod producers;
mod queue;
mod shape;
mod sizes;
#[cfg(test)]
mod stalled;

pub use channel::{Receiver, RecvError, Sender, channel};
pub use closed::{Closed, PushError, ReopenError};
pub use depth::Depth;
pub use queue::EventQueue;
