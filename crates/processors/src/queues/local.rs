//! The local part of a processor: its end of its deque, and where its search stands.

use std::cell::Cell;

use filch_deque::Worker;

use crate::queues::fair::fairness::Fairness;
use crate::queues::global_queue::Lanes;
use crate::queues::steal_policy::StealPolicy;
use crate::random::Random;

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
