//! Futures as processes: each step is a poll, and a waker wakes the process.

pub(crate) mod inbox;
pub(crate) mod join_handle;
#[expect(unsafe_code, reason = "pins the future where its process is")]
pub(crate) mod process;
pub(crate) mod spawn;
