//! A guest's wait, and the processor that it borrows.

use crate::protocol::Permit;

/// A wait of a thread from outside: for a task, or for what comes of it. For
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
