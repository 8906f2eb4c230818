//! What a guest has to do with.

use crate::protocol::Permit;

/// What a thread from outside waits for: a task, or what comes of it. For
/// [`Processors::run_awaited`](crate::Processors::run_awaited).
pub trait Awaited<T> {
    /// Returns whether the wait is over.
    fn is_over(&self) -> bool;

    /// Returns whether this is the task, and not another one.
    fn is(&self, task: &T) -> bool;
}

/// A processor that was idle, on the thread that has borrowed it.
pub(crate) struct Visit {
    pub(crate) permit: Permit,
    /// The machine that waits to get it back.
    pub(crate) lender: usize,
}
