//! Futures as processes: each step is a poll, and a waker wakes the process.

#[expect(unsafe_code, reason = "pins the future that it wraps")]
pub(crate) mod contained;
#[expect(unsafe_code, reason = "takes the output once it has the exit")]
pub(crate) mod join_handle;
#[expect(unsafe_code, reason = "says who has a future's stage")]
pub(crate) mod spawn;
pub(crate) mod task;
