//! What a worker does with a process, and what it keeps for it from turn to turn.

pub(crate) mod backlog;
#[expect(
    unsafe_code,
    reason = "stands for slots, and for values of forgotten types"
)]
pub(crate) mod body;
#[expect(
    unsafe_code,
    reason = "shrinks the queue of the process that the worker has"
)]
pub(crate) mod budget;
#[expect(
    unsafe_code,
    reason = "touches the body of the process that the worker has"
)]
pub(crate) mod driver;
pub(crate) mod inbox;
pub(crate) mod item;
pub(crate) mod start;
