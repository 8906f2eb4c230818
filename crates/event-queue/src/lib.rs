#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}

mod block;
mod channel;
mod claim;
mod closed;
mod consumer;
mod depth;
mod position;
mod producers;
mod queue;
mod scan;

pub use channel::{Receiver, RecvError, Sender, channel};
pub use claim::Claim;
pub use closed::{Closed, PushError, ReopenError};
pub use depth::Depth;
pub use queue::EventQueue;
