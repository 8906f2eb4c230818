//! Futures as processes: each step is a poll, and a waker wakes the process.

pub(crate) mod ask;
pub(crate) mod inbox;
#[expect(unsafe_code, reason = "has the handle's right to the exit")]
pub(crate) mod join_handle;
#[expect(unsafe_code, reason = "gives up the handle's right to the exit")]
pub(crate) mod join_state;
#[expect(unsafe_code, reason = "pins the future where its process is")]
pub(crate) mod process;
#[expect(unsafe_code, reason = "has the handle's right to the exit")]
pub(crate) mod process_future;
pub(crate) mod spawn;
#[expect(unsafe_code, reason = "counts the clones of a waker by pins")]
pub(crate) mod waker;
