//! Waiting until nothing can run any more, the stop of a pool, and the duties of its last thread.

use std::time::Instant;

use filch_sync::lock;
use filch_sync::panic::drop_contained;

use crate::pool::processors::Processors;
use crate::protocol::quiescence::NeverQuiescent;
use crate::protocol::state::grant::Activity;

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

    /// Blocks until [`is_quiescent`](Self::is_quiescent) holds at some moment after the call began,
    /// or until the `deadline`, if there is one. Returns whether there was such a moment: a
    /// scheduler whose processes still live may then conclude that they wait for each other.
    ///
    /// All that the tasks did until then happens before the return.
    ///
    /// # Errors
    /// [`NeverQuiescent`] if the pool has been stopped and tasks came too late to be run.
    ///
    /// # Panics
    /// On a thread of the pool, which would wait for itself.
    pub fn wait_quiescent(&self, deadline: Option<Instant>) -> Result<bool, NeverQuiescent> {
        assert!(
            !self.is_machine(),
            "a task that waits until no task runs waits for itself"
        );
        let coordinator = &self.shared.coordinator;
        coordinator.await_quiescence_until(&self.shared.queues, deadline)
    }

    /// Lets the threads exit, once no work remains: when all that has been scheduled has run, and
    /// every [`blocking`](Self::blocking) call has come back. Until then everything goes on as
    /// before. A task that is scheduled from outside when the threads have exited stays where it
    /// is. Takes a lock for a moment; waits for no task.
    pub fn stop(&self) {
        self.shared.coordinator.stop(&self.shared.queues);
        self.shared.long_turns.wake();
        // If there is no thread, none will do that.
        self.end_if_deserted();
    }

    /// Ends the pool, if the machine's thread was the last one; it has nothing left to do but to
    /// exit. It is shown as busy until the end, which may be long: see below.
    pub(crate) fn end_after(&self, machine: usize) {
        if self.shared.coordinator.is_deserted() {
            let public = self.shared.coordinator.machine(machine);
            public.set_activity(Activity::Runs);
            self.end_if_deserted();
            public.set_activity(Activity::Gone);
        }
    }

    /// Ends the pool if no thread is left, when one has exited, or could not be had.
    pub(crate) fn end_if_deserted(&self) {
        if !self.shared.coordinator.is_deserted() {
            return;
        }
        // With it go references to the pool and to the runner, whose destructor is a user's.
        let runner = lock(&self.runner).take();
        self.shared.long_turns.wake();
        if let Some(watchdog) = self.watchdog.get() {
            let _ = watchdog.unpark();
        }
        drop_contained(runner);
        self.shared.coordinator.announce_end();
    }
}
