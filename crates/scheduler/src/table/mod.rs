//! What the process table holds of a process.

pub(crate) mod backlog;
#[expect(
    unsafe_code,
    reason = "stands for slots, and for values of forgotten types"
)]
pub(crate) mod body;
pub(crate) mod item;
pub(crate) mod late;
pub(crate) mod latest;
