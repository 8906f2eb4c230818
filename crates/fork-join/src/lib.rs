#![doc = include_str!("../README.md")]

#[cfg(not(loom))] // whole pools of threads, of which loom has too few
mod api;
#[cfg(not(loom))]
mod attached;
mod begin;
mod beside;
mod boxed;
mod content;
mod current;
mod forked;
mod found;
mod give_way;
mod installed;
mod isolation;
mod job;
mod latch;
mod lent;
mod open_jobs;
#[doc(hidden)] // for the models, which explore the protocol without a pool's threads
pub mod protocol;
mod reach;
mod reentry;
mod region;
mod report;
mod scope;
mod shared;
mod sleepers;
mod source;
mod standing;
mod worker;

#[cfg(not(loom))]
pub use api::config::{Config, StartError};
#[cfg(not(loom))]
pub use api::global::{join, scope, spawn};
#[cfg(not(loom))]
#[doc(hidden)] // for compat/rayon-core, which has a global pool of its own
pub use api::once_pool::OncePool;
#[cfg(not(loom))]
pub use api::pool::Pool;
#[cfg(not(loom))]
pub use api::threads::Thread;
#[cfg(not(loom))]
#[doc(hidden)] // for compat/rayon-core, which makes such threads itself
pub use api::threads::usual_stack_size;
pub use filch_processors::ResizeError;
pub use reentry::Reentry;
pub use report::ThreadReport;
pub use scope::Scope;
pub use standing::Doing;
pub use worker::Worker;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
