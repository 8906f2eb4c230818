//! The turns that a worker gives a process from a run queue.

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
#[expect(unsafe_code, reason = "ends the process that the worker has")]
pub(crate) mod end;
#[expect(
    unsafe_code,
    reason = "has the mailbox of the process that the worker has"
)]
pub(crate) mod inbox;
