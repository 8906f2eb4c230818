//! What many users want and no step passes through.

pub(crate) mod blocking;
pub(crate) mod bound_thread;
pub(crate) mod nodes;
#[cfg(not(loom))] // whose `Arc` cannot forget what tasks are
pub(crate) mod pool;
pub(crate) mod service_threads;
pub(crate) mod standstill;
pub mod testing;
pub(crate) mod watchdog;
