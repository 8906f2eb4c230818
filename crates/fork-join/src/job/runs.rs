//! What jobs need of those that run them.

use super::forks::Forks;
use crate::latch::{Latch, Thief};

/// What jobs ask of the worker of the thread that forks, runs or awaits them.
pub(crate) trait Runs: Sized + 'static {
    /// What its thread has forked. The same deque each time.
    fn forks(&self) -> &Forks<Self>;

    /// The thread, which is about to run a stolen job.
    fn thief(&self) -> Thief;

    /// Wakes a thread for what is in reach of thieves, if one has asked.
    fn answer(&self);

    /// A job was stolen: returns when it is done.
    fn wait(&self, latch: &Latch);

    /// The job with that latch is done: its owner is woken, if that sleeps. The job may be gone
    /// when this returns. Of the owner, which runs on, no more than the seat is looked at.
    fn finish(&self, latch: &Latch, owner: &Self);
}
