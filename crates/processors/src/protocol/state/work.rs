//! The part of the queues that the protocol must know.

use crate::protocol::state::permit::Permit;

/// The queues, as the protocol sees them.
pub trait Work {
    /// Returns whether any queue holds a task. Taking a task must be a Release: a thread that no
    /// longer sees the task sees, after an Acquire fence, what its taker did before.
    fn exists(&self) -> bool {
        self.exists_beside(|_| false)
    }

    /// Returns whether a task exists beside the only one in the deque of a `watched` processor.
    fn exists_beside(&self, watched: impl Fn(usize) -> bool) -> bool;

    /// Returns whether a thread that looks for a task may find one: as `exists_beside`, but where
    /// that takes long to say, the answer is yes.
    fn may_exist(&self, watched: impl Fn(usize) -> bool) -> bool {
        self.exists_beside(watched)
    }

    /// Moves what the deque of a processor that is given up holds to the global queue, oldest
    /// first. Returns whether there was anything.
    fn evacuate(&self, permit: &Permit) -> bool;
}
