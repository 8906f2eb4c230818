//! What decides which worker runs which job.

mod fifo;
mod heuristic;
mod idle;
mod interface;
mod near;
mod two_choices;

use std::fmt;

use fifo::Fifo;
use heuristic::Heuristic;
pub(crate) use heuristic::Timeouts;
pub(super) use interface::{Moment, Policy};
use near::Near;
use two_choices::TwoChoices;

use super::graph::Time;

/// A policy, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// filch's build scheduler.
    Filch,
    /// Any free worker takes the oldest job.
    Fifo,
    /// A job waits for a worker that has one of its inputs, however long.
    AlwaysWait,
    /// A job goes to the less loaded of two random workers.
    TwoChoices,
    /// As filch, but a worker prefers what it is near to, and what nobody is near to does not wait.
    NearFirst,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [
        Self::Filch,
        Self::Fifo,
        Self::AlwaysWait,
        Self::TwoChoices,
        Self::NearFirst,
    ];

    /// Whether its decisions depend on the timeouts.
    pub(super) fn waits(self) -> bool {
        matches!(self, Self::Filch | Self::NearFirst)
    }

    /// For a farm and a graph of these sizes.
    pub(super) fn policy(
        self,
        workers: u32,
        jobs: u32,
        timeouts: Timeouts,
        seed: u64,
    ) -> Box<dyn Policy> {
        let nanoseconds = |wait: std::time::Duration| Time::try_from(wait.as_nanos());
        let patience = timeouts.deps.and_then(|wait| nanoseconds(wait).ok());
        match self {
            Self::Filch => Box::new(Heuristic::new(workers, timeouts, seed)),
            Self::Fifo => Box::new(Fifo::new(workers)),
            Self::AlwaysWait => Box::new(Near::new(workers, jobs, None)),
            Self::TwoChoices => Box::new(TwoChoices::new(workers, seed)),
            Self::NearFirst => Box::new(Near::new(workers, jobs, patience)),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Filch => "filch",
            Self::Fifo => "FIFO",
            Self::AlwaysWait => "always wait",
            Self::TwoChoices => "two choices",
            Self::NearFirst => "near first",
        })
    }
}
