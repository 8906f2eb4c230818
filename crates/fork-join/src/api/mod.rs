//! The user's side: pools, their threads, and jobs that come to them from outside.

pub(crate) mod config;
pub(crate) mod global;
pub(crate) mod pool;
mod shared_pool;
mod spawn;
pub(crate) mod threads;
