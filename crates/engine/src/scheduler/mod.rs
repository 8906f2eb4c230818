//! Schedulers: a main loop in a thread of its own, and the handles to it.

pub(crate) mod core;
pub(crate) mod handle;
#[cfg(unix)]
mod overflow;
pub(crate) mod worker_slot;
