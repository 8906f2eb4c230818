//! Jobs that begin oldest first, whichever of them a worker takes.

use std::fmt;

use filch_injector::Injector;

type Job<'scope, C> = Box<dyn FnOnce(&C) + Send + 'scope>;

/// Jobs in the order in which they were spawned. For each, a worker gets a job which calls
/// [`run_oldest`](Self::run_oldest): it takes a turn, not that very job.
pub(crate) struct Fifo<'scope, C>(Injector<Job<'scope, C>>);

impl<C> Default for Fifo<'_, C> {
    fn default() -> Self {
        Self(Injector::new())
    }
}

impl<C> fmt::Debug for Fifo<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fifo").finish_non_exhaustive()
    }
}

impl<'scope, C> Fifo<'scope, C> {
    /// Adds a job. The caller then spawns a turn.
    pub(crate) fn push(&self, job: impl FnOnce(&C) + Send + 'scope) {
        self.0.push(Box::new(job));
    }

    /// Runs the job whose turn it is.
    ///
    /// # Panics
    /// If the job panics.
    pub(crate) fn run_oldest(&self, context: &C) {
        match self.0.pop() {
            Some(job) => job(context),
            // Each job was pushed before its turn was spawned.
            None => unreachable!("there are as many jobs as turns"),
        }
    }
}
