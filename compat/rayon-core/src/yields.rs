//! A thread of a pool that has time for another job.

use filch_fork_join::Worker;

/// The outcome of a call of [`yield_now`] or [`yield_local`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// A job was run.
    Executed,
    /// There was none.
    Idle,
}

impl Yield {
    pub(crate) fn of(executed: bool) -> Self {
        if executed { Self::Executed } else { Self::Idle }
    }
}

/// Runs one job of the thread's pool that has not begun, if there is one, and others if that waits.
/// Returns `None` if the thread belongs to no pool.
pub fn yield_now() -> Option<Yield> {
    Worker::current(|worker| worker.map(|worker| Yield::of(worker.yield_now())))
}

/// As [`yield_now`], with the calling thread's own jobs only.
pub fn yield_local() -> Option<Yield> {
    Worker::current(|worker| worker.map(|worker| Yield::of(worker.yield_local())))
}
