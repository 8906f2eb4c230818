//! What a user makes: pools, of threads, and what comes to them from outside.

pub(crate) mod config;
pub(crate) mod global;
mod host;
pub(crate) mod once_pool;
pub(crate) mod pool;
mod shared_pool;
mod spawn;
pub(crate) mod threads;
