#![doc = include_str!("../README.md")]

#[cfg(not(all(loom, feature = "loom")))] // whole pools of threads, of which loom has too few
mod api;
mod begin;
mod boxed;
mod current;
mod forked;
mod isolation;
mod job;
mod latch;
mod open_jobs;
#[doc(hidden)] // for the models, which explore the protocol without a pool's threads
pub mod protocol;
mod reach;
mod report;
mod scope;
mod search;
mod shared;
mod sleepers;
mod source;
mod worker;

#[cfg(not(all(loom, feature = "loom")))]
pub use api::{
    config::{Config, StartError},
    global::{join, scope, spawn},
    pool::Pool,
    threads::Thread,
};
#[cfg(not(all(loom, feature = "loom")))]
#[doc(hidden)] // for compat/rayon-core, which has threads and a global pool of its own
pub use api::{once_pool::OncePool, threads::usual_stack_size};
pub use filch_processors::PoolError;
pub use report::{Doing, ThreadReport};
pub use scope::Scope;
pub use worker::Worker;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
