#![doc = include_str!("../README.md")]
//!
//! # The source
//!
//! | folder | what is in it |
//! |---|---|
//! | `protocol/state/` | shared words, what one lock guards, and the `Coordinator` over them |
//! | `protocol/` | how processors change hands: operations on that state, explored by loom |
//! | `queues/` | where tasks wait, and the order in which a processor looks for one |
//! | `pool/` | `Processors` and what it consists of: what a user of the crate has |
//! | `observe/` | what a pool is seen to do |
//! | `thread/` | what threads do: their main loop, and each operation that starts, stops or moves them |
//!
//! A file imports only from its own folder and from those above it in the table.
#![deny(unsafe_code)]

mod observe;
mod pool;
#[doc(hidden)] // for the models, which explore the protocol without queues and main loops
pub mod protocol;
mod queues;
mod stats;
mod thread;

pub use filch_injector::AllocateError;
pub use observe::dump::Dump;
pub use observe::look::{Inside, QueueLengths, RunningTask};
pub use pool::config::{Config, PoolError};
#[doc(hidden)] // for the schedulers, whose threads must not wait for one another
pub use pool::current::is_machine;
pub use pool::current::with_source;
pub use pool::processors::Processors;
pub use pool::runner::Awaited;
pub use pool::runner::Runner;
pub use pool::threads::{Machines, Thread};
pub use protocol::quiescence::NeverQuiescent;
pub use protocol::state::synced::BoundId;
pub use protocol::threads::ThreadStats;
pub use queues::source::{AttachError, Piece, Source};
#[doc(hidden)] // for the schedulers, which count per worker too
pub use stats::Counter;
pub use stats::ProcessorStats;
pub use thread::bound::BoundThread;
#[cfg(not(all(loom, feature = "loom")))]
pub use thread::handle::{AnyPool, PoolHandle};

#[doc = include_str!("../ARCHITECTURE.md")]
pub mod architecture {}
