//! The policies, which decide which worker runs which job.

mod fifo;
mod heuristic;
mod interface;

use std::fmt;

use fifo::Fifo;
use heuristic::Heuristic;
pub(crate) use heuristic::Timeouts;
pub(super) use interface::{Moment, Policy};

/// A policy, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// filch's build scheduler.
    Filch,
    /// Any free worker takes the oldest job.
    Fifo,
    /// As near first, without timeouts.
    AlwaysWait,
    /// filch's build scheduler with `near_first`.
    NearFirst,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Filch, Self::Fifo, Self::AlwaysWait, Self::NearFirst];

    /// Makes the policy for a farm of that size.
    pub(super) fn policy(self, workers: u32, timeouts: Timeouts, seed: u64) -> Box<dyn Policy> {
        let config = timeouts.config().seed(seed);
        let heuristic = |config| Box::new(Heuristic::new(workers, config));
        match self {
            Self::Filch => heuristic(config),
            Self::Fifo => Box::new(Fifo::new()),
            Self::AlwaysWait => heuristic(Timeouts::NONE.config().near_first()),
            Self::NearFirst => heuristic(config.near_first()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Filch => "filch",
            Self::Fifo => "FIFO",
            Self::AlwaysWait => "always wait",
            Self::NearFirst => "near first",
        })
    }
}
