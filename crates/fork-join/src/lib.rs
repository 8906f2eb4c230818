#![doc = include_str!("../README.md")]

mod api;
mod current;
mod job;
mod join;
#[doc(hidden)] // for the models, which explore the protocol without a pool's threads
pub mod protocol;
mod scope;
mod search;
mod shared;
mod stack;
mod worker;

pub use api::{
    config::{Config, StartError},
    global::{scope, spawn},
    pool::Pool,
    threads::Thread,
};
#[doc(hidden)] // for compat/rayon-core, which has threads and a global pool of its own
pub use api::{global::OncePool, threads::usual_stack_size};
pub use filch_processors::PoolError;
#[doc(inline)]
pub use filch_sync::asymmetric::heavy_fences;
pub use join::join;
pub use scope::Scope;
pub use stack::{Doing, ThreadReport};
pub use worker::Worker;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
