//! The workers, for work that is no process.

use filch_processors::{PoolHandle, Processors, ResizeError};

use crate::{Handle, Protocol};

impl<P: Protocol> Handle<P> {
    /// Changes the number of workers, and returns the number that there were. From any thread, in a
    /// step too. New workers begin at once; those that are too many leave when their step is over.
    /// Nothing runnable is lost. Blocking, while another change is under way, but not for any step.
    ///
    /// # Errors
    /// [`ResizeError`]: zero, more than [`max_workers`](crate::Builder::max_workers), after the
    /// shutdown; or the system has refused a thread, and there are as many workers as it gave.
    pub fn set_workers(&self, workers: usize) -> Result<usize, ResizeError> {
        self.shared().processors.resize(workers)
    }

    /// The workers, as other kinds of work see them: for `filch_fork_join::Pool::on`, which runs
    /// jobs on them, beside the processes. The scheduler ends, as at any
    /// [shutdown](crate::Scheduler::shutdown), when no job is left; one that does not return is in
    /// the [report](crate::ShutdownReport).
    pub fn pool(&self) -> PoolHandle {
        Processors::handle(&self.shared().processors)
    }
}
