//! Asking, and waiting, until nothing can run any more.

use std::time::Instant;

use crate::pool::processors::Processors;
use crate::protocol::quiescence::NeverQuiescent;

impl<T: Send + 'static> Processors<T> {
    /// Returns whether at some moment during the call nothing could run any more: all processors
    /// idle, all queues empty, no [`blocking`](Self::blocking) call under way. From then on a task
    /// can only come from outside of the pool.
    ///
    /// `true` is exact. `false` means that something was going on, be it only a thread that had
    /// been woken in vain. Lock-free; looks into every queue if all processors are idle.
    pub fn is_quiescent(&self) -> bool {
        self.shared.coordinator.is_quiescent(&self.shared.queues)
    }

    /// Blocks until [`is_quiescent`](Self::is_quiescent) holds at some moment after the call began:
    /// a scheduler whose processes still live may then conclude that they wait for each other.
    ///
    /// All that the tasks did until then happens before the return.
    ///
    /// # Errors
    /// [`NeverQuiescent`] if the pool has been stopped and tasks came too late to be run.
    ///
    /// # Panics
    /// On a thread of the pool, which would wait for itself.
    pub fn wait_quiescent(&self) -> Result<(), NeverQuiescent> {
        self.wait_quiescent_until(None).map(drop)
    }

    /// Waits as [`wait_quiescent`](Self::wait_quiescent) does, until the `deadline` at most, if
    /// there is one. Returns whether there was such a moment: `false` says that something ran until
    /// then.
    ///
    /// # Errors
    /// As [`wait_quiescent`](Self::wait_quiescent).
    ///
    /// # Panics
    /// As [`wait_quiescent`](Self::wait_quiescent).
    pub fn wait_quiescent_until(&self, deadline: Option<Instant>) -> Result<bool, NeverQuiescent> {
        assert!(
            !self.is_machine(),
            "a task that waits until no task runs waits for itself"
        );
        let queues = &self.shared.queues;
        let coordinator = &self.shared.coordinator;
        coordinator.await_quiescence_until(queues, deadline)
    }
}
