#![doc = include_str!("../README.md")]

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
pub use queues::source::{ExternalTask, Source};
#[doc(hidden)] // for the schedulers, which count per worker too
pub use stats::Counter;
pub use stats::ProcessorStats;
pub use thread::bound::BoundThread;
pub use thread::handle::{AnyPool, PoolHandle};

#[doc = include_str!("../ARCHITECTURE.md")]
pub mod architecture {}
