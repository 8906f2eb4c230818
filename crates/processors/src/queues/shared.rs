//! The state that the threads of a pool share, without what only its users need.

use std::time::{Duration, Instant};

use crate::protocol::{Coordinator, LongTurns};
use crate::queues::bound_tasks::BoundTasks;
use crate::queues::task_queues::TaskQueues;

/// The queues, and the protocol over them.
pub(crate) struct Shared<T> {
    pub(crate) queues: TaskQueues<T>,
    pub(crate) coordinator: Coordinator,
    pub(crate) bound_tasks: BoundTasks<T>,
    pub(crate) long_turns: LongTurns,
    /// The time that a machine sleeps between two looks at a processor that it watches. Zero: no
    /// processor is watched.
    pub(crate) watch_interval: Duration,
    /// The clock of turn-taking.
    pub(crate) clock: fn() -> Instant,
    /// Asks the cache for the memory of a task that will soon run here.
    pub(crate) prefetch: Option<fn(&T)>,
}

impl<T> Shared<T> {
    /// The number of processors that are to run.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.coordinator.control_word().active()
    }
}
