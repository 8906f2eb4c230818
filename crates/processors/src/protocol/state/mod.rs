//! The state that the protocol works on: words, what the lock guards, and the
//! [`Coordinator`](coordinator::Coordinator) that holds all of it. Nothing here knows of the
//! operations.

pub(crate) mod control;
#[expect(
    unsafe_code,
    reason = "the number of a popped processor becomes its permit again"
)]
pub(crate) mod coordinator;
#[expect(unsafe_code, reason = "the number in a grant becomes a permit again")]
pub(crate) mod grant;
pub(crate) mod idle;
pub(crate) mod long_turns;
#[expect(
    unsafe_code,
    reason = "only the thread with the permit reaches the local part of a processor"
)]
pub(crate) mod permit;
#[expect(unsafe_code, reason = "makes the first permit of each processor")]
pub(crate) mod synced;
