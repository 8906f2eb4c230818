#![doc = include_str!("../README.md")]

mod current;
mod job;
mod join;
mod latch;
#[cfg(not(loom))] // whole pools of threads, of which loom has too few
mod pool;
#[doc(hidden)] // for the models, which explore the protocol without a pool's threads
pub mod protocol;
mod scope;
mod shared;
mod sleepers;
mod source;
mod worker;

pub use filch_processors::StartError;
pub use join::join;
#[cfg(not(loom))]
pub use pool::Pool;
pub use scope::Scope;
pub use worker::Worker;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
