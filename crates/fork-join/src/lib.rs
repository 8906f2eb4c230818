#![doc = include_str!("../README.md")]

mod config;
mod current;
#[cfg(not(loom))]
mod global;
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
#[cfg(not(loom))]
mod spawn;
#[cfg(not(loom))]
mod threads;
mod worker;

pub use config::{Config, StartError};
pub use filch_processors::ResizeError;
#[cfg(not(loom))]
pub use global::{join, scope, spawn};

#[cfg(not(loom))]
pub use pool::Pool;
pub use scope::Scope;
#[cfg(not(loom))]
pub use threads::Thread;
pub use worker::Worker;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
