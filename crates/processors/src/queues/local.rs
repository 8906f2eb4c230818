//! The local part of a processor: its end of its deque, and where its search stands.

use std::cell::Cell;
use std::time::Instant;

use filch_deque::Worker;

use crate::queues::global_queue::Lanes;
use crate::queues::seniority::Seniority;
use crate::queues::steal_policy::StealPolicy;
use crate::queues::turn_clock::TurnClock;
use crate::random::Random;

/// The local part of a processor. Only the thread with its permit reaches it.
#[derive(Debug)]
pub(crate) struct Local<T> {
    /// The number of the processor.
    pub(crate) own: usize,
    pub(crate) deque: Worker<T>,
    /// Until it looks around.
    pub(crate) turns: TurnClock,
    /// Whether the last reading of the time brought a task of the global queue, or a piece.
    pub(crate) took_outside: Cell<bool>,
    /// Whether the last of these was a piece.
    pub(crate) took_piece: Cell<bool>,
    /// Whether it is the source's turn, before all others.
    pub(crate) is_sources_turn: Cell<bool>,
    /// Of the global queue.
    pub(crate) lanes: Lanes,
    /// Whether the last rotation was for a task that had given way.
    pub(crate) took_yielded: Cell<bool>,
    /// Of tasks that have given way, beside those of the global queue.
    pub(crate) seniority: Seniority,
    /// Picks the first victim of a round, and the one to relieve.
    pub(crate) random: Random,
    pub(crate) policy: StealPolicy,
    /// Whether the last task from elsewhere came from the global queue and brought others along: a
    /// stream comes from outside, and each look takes a cache line from the thread that brings it.
    pub(crate) is_fed: Cell<bool>,
}

impl<T: Send + 'static> Local<T> {
    pub(crate) fn new(own: usize, deque: Worker<T>, seniority: Seniority, now: Instant) -> Self {
        Self {
            own,
            deque,
            turns: TurnClock::new(now),
            took_outside: Cell::new(false),
            is_sources_turn: Cell::new(false),
            took_piece: Cell::new(false),
            lanes: Lanes::default(),
            took_yielded: Cell::new(false),
            seniority,
            random: Random::new(own),
            policy: StealPolicy::default(),
            is_fed: Cell::new(false),
        }
    }

    /// Whether the deque holds exactly one task.
    pub(crate) fn has_one(&self) -> bool {
        self.deque.len() == 1
    }
}
