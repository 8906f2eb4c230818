//! The stop of a pool, and the duties of its last thread.

use filch_sync::lock;
use filch_sync::panic::drop_contained;

use crate::pool::processors::Processors;
use crate::protocol::state::grant::Activity;

impl<T: Send + 'static> Processors<T> {
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
