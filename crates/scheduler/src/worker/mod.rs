//! What a worker does with a process.

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
pub(crate) mod inbox;
pub(crate) mod let_go;
#[expect(unsafe_code, reason = "has the scheduler that its driver keeps")]
pub(crate) mod scratch;
#[cfg(feature = "tracing")]
pub(crate) mod span;
pub(crate) mod start;
