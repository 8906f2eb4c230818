//! The answers of the edges: a duty of the caller, or none; or that there is no such edge.

use core::fmt;

use crate::state::{Snapshot, State};

/// The duty of the caller of [`wake`](crate::ProcessState::wake). Match all four.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[must_use = "a process that became Ready must be enqueued"]
pub enum Wake {
    /// This call made it Ready: the caller must enqueue it, exactly once.
    Enqueue,
    /// Nothing to do: the turn that is queued, or a later one, will see the event.
    Noted,
    /// The life is over, or has not begun. No turn of a life that is over will see the event:
    /// another thread has the queue, and looks into it after this call. The first turn of a life
    /// that has not begun will see it.
    Refused,
    /// The life is over and nobody had the queue: the caller has it now, must
    /// [`dispose`](crate::ProcessState::dispose) of its contents, and is then refused.
    Dispose,
}

/// The outcome of [`complete`](crate::ProcessState::complete). Match both: one is a duty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[must_use = "a process that was woken has not ended"]
pub enum Ending {
    /// The life is over. The caller must not touch the queue any more.
    Over,
    /// A wake-up came while the process was Running, and it is still Running: the caller must empty
    /// the queue, and then call again.
    Drain,
}

/// The outcome of [`dispose`](crate::ProcessState::dispose). Match both: one is a duty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[must_use = "the caller has the queue until it is told that it is done"]
pub enum Disposal {
    /// The caller must dispose of the contents of the queue, and then call again.
    Drain {
        /// The place [was vacated](crate::ProcessState::vacate). If the queue needs nothing more,
        /// the caller may give the place to the next process instead of calling again.
        vacated: bool,
    },
    /// No other thread came meanwhile. The caller must not touch the queue any more.
    Done,
}

impl Wake {
    /// Answers a wake-up that found the life over, or not begun.
    #[inline]
    pub(crate) fn of_over(old: Snapshot) -> Self {
        if old.is_in_hands() {
            Self::Refused
        } else {
            Self::Dispose
        }
    }
}

/// The duty of a worker that let go of a process. Match both: there is no third.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[must_use = "a process that is Ready must be enqueued"]
pub enum LetGo {
    /// The process is Ready (a wake-up came while it ran, or it yielded): the caller must enqueue
    /// it, exactly once.
    Enqueue,
    /// The process waits, and the thread that wakes it will enqueue it. The worker must not touch
    /// it any more.
    Waits,
}

/// The table has no such edge; the word is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IllegalTransition {
    /// The state found.
    pub from: State,
    /// The edge asked for.
    pub edge: Edge,
}

/// The edges that only one party may take. Any thread may [`wake`](crate::ProcessState::wake).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Edge {
    /// [`submit`](crate::ProcessState::submit), from Complete.
    Submit,
    /// [`start`](crate::ProcessState::start), from Ready.
    Start,
    /// [`seize`](crate::ProcessState::seize), from Idle.
    Seize,
    /// [`yield_now`](crate::ProcessState::yield_now), from Running.
    Yield,
    /// [`block`](crate::ProcessState::block), from Running.
    Block,
    /// [`idle`](crate::ProcessState::idle), from Running.
    Idle,
    /// [`complete`](crate::ProcessState::complete), from Running.
    Complete,
    /// [`vacate`](crate::ProcessState::vacate), from Complete.
    Vacate,
    /// [`dispose`](crate::ProcessState::dispose), from Complete.
    Dispose,
}

impl fmt::Display for IllegalTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, edge } = self;
        write!(f, "the edge {edge:?} does not leave the state {from:?}")
    }
}

impl core::error::Error for IllegalTransition {}
