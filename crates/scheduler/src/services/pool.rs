//! The workers, for work that is no process.

use filch_processors::{PoolHandle, Processors};

use crate::{Handle, Protocol};

impl<P: Protocol> Handle<P> {
    /// The workers, as other kinds of work see them: for `filch_fork_join::Pool::on`, which runs
    /// jobs on them, beside the processes. The scheduler ends, as at any
    /// [shutdown](crate::Scheduler::shutdown), when no job is left; one that does not return is in
    /// the [report](crate::ShutdownReport).
    pub fn pool(&self) -> PoolHandle {
        Processors::handle(&self.shared.processors)
    }
}
