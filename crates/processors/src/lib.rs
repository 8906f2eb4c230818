#![doc = include_str!("../README.md")]
//!
//! # The source
//!
//! | folder | what is in it |
//! |---|---|
//! | `protocol/state/` | shared words, what one lock guards, and the `Coordinator` over them |
//! | `protocol/` | how processors change hands: operations on that state, explored by loom |
//! | `queues/` | where tasks wait, and the order in which a processor looks for one |
//! | `thread/` | the main loop of a thread, and what surrounds it |
//! | `pool/` | `Processors`: what a user of the crate calls |
//!
//! A file imports only from its own folder and from those above it in the table, and no files
//! import each other in a circle. `random` and `stats` import nothing.
#![deny(unsafe_code)]

mod pool;
#[doc(hidden)] // for the models, which explore the protocol without queues and main loops
pub mod protocol;
mod queues;
mod random;
mod stats;
mod thread;

pub use filch_injector::AllocateError;
pub use pool::attach::AttachError;
pub use pool::config::{Config, StartError};
pub use pool::dump::Dump;
#[cfg(not(all(loom, feature = "loom")))]
pub use pool::handle::{PoolHandle, WeakPoolHandle};
pub use pool::lengths::QueueLengths;
pub use pool::processors::Processors;
pub use pool::reserve::{BoundThread, ReserveError};
pub use pool::resize::ResizeError;
pub use pool::runner::Runner;
pub use pool::running::{Inside, RunningTask};
pub use protocol::quiescence::NeverQuiescent;
pub use protocol::state::binding::BoundId;
pub use protocol::threads::ThreadStats;
pub use queues::source::{Piece, Source};
#[doc(hidden)] // for the schedulers, which count per worker too
pub use stats::Counter;
pub use stats::ProcessorStats;
#[doc(hidden)] // for the schedulers, whose threads must not wait for one another
pub use thread::current::is_machine;
pub use thread::current::with_source;
pub use thread::guest::Awaited;
pub use thread::handles::Machines;
pub use thread::thread::Thread;

#[doc = include_str!("../ARCHITECTURE.md")]
pub mod architecture {}
