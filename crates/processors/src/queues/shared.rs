//! The state that the threads of a pool share, without what only its users need; and the local part
//! of a processor.

use std::cell::Cell;
use std::time::{Duration, Instant};

use filch_deque::Worker;

use crate::protocol::{Coordinator, LongTurns};
use crate::queues::bound_tasks::BoundTasks;
use crate::queues::fairness::Fairness;
use crate::queues::global_queue::Lanes;
use crate::queues::steal_policy::StealPolicy;
use crate::queues::task_queues::TaskQueues;
use crate::random::Random;

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

/// The local part of a processor. Only the thread with its permit reaches it.
#[derive(Debug)]
pub(crate) struct Local<T> {
    /// The number of the processor.
    pub(crate) own: usize,
    pub(crate) deque: Worker<T>,
    /// Tells when it is another task's turn.
    pub(crate) fair: Fairness,
    /// The turns of the global queue's lanes.
    pub(crate) lanes: Lanes,
    /// Picks the first victim of a round, and the one to balance with.
    pub(crate) random: Random,
    pub(crate) policy: StealPolicy,
    /// `true` if the last task from elsewhere came from the global queue and brought others along:
    /// in a stream from outside, each look takes a cache line from the thread that brings it.
    pub(crate) is_fed: Cell<bool>,
}

impl<T: Send + 'static> Local<T> {
    pub(crate) fn new(own: usize, deque: Worker<T>, fair: Fairness) -> Self {
        Self {
            own,
            deque,
            fair,
            lanes: Lanes::default(),
            random: Random::new(own),
            policy: StealPolicy::default(),
            is_fed: Cell::new(false),
        }
    }

    /// Returns whether the deque holds exactly one task.
    pub(crate) fn has_one(&self) -> bool {
        self.deque.len() == 1
    }
}
