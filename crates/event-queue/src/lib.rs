#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}

mod block;
mod channel;
mod consumer;
mod position;
mod producers;
mod queue;
mod scan;

pub use channel::{Receiver, RecvError, Sender, channel};
pub use position::Depth;
pub use producers::Claim;
pub use queue::{Closed, EventQueue, PushError, ReopenError};
