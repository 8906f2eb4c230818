//! Futures as processes: each step is a poll, and a waker wakes the process.

pub(crate) mod async_fn;
pub(crate) mod inbox;
pub(crate) mod join_handle;
#[expect(unsafe_code, reason = "pins the future where its process is")]
mod process;
