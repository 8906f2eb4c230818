//! The policies, which decide which worker runs which job.

mod heuristic;
mod pooled;

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use filch::build_scheduler::Config;
use heuristic::Heuristic;

use super::farm::{Farm, Worker};
use super::graph::{Job, Time};
pub(crate) use pooled::Pooled;

/// The state at a call of a policy, and the receiver of its decisions.
#[derive(Debug)]
pub(crate) struct Moment<'a, 'g> {
    pub(crate) now: Time,
    pub(crate) farm: &'a Farm<'g>,
    /// Jobs that begin now, each on a worker that has reported a free slot.
    pub(crate) starts: &'a mut Vec<(Worker, Job)>,
}

/// Decides which worker runs which job. Each job becomes ready once and starts once; each call of
/// `free` gives a worker one slot more, and each start takes one.
pub(crate) trait Policy {
    /// Reports that all inputs of the job have been made.
    fn ready(&mut self, job: Job, moment: &mut Moment<'_, '_>);

    /// Reports that the worker has a free slot.
    fn free(&mut self, worker: Worker, moment: &mut Moment<'_, '_>);

    /// Reports that the worker has made the artifact of the job. `gained` follows if it is new
    /// there.
    fn ended(&mut self, _worker: Worker, _job: Job, _moment: &mut Moment<'_, '_>) {}

    /// Reports that the worker has the artifact in its cache from now on.
    fn gained(&mut self, _worker: Worker, _artifact: Job, _moment: &mut Moment<'_, '_>) {}

    /// Returns the time of the next [`advance`](Self::advance), if it wants one.
    fn next_deadline(&self) -> Option<Time> {
        None
    }

    /// Reports that its next deadline has come.
    fn advance(&mut self, _moment: &mut Moment<'_, '_>) {}
}

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
    pub(super) fn policy(self, workers: u32, config: Config) -> Box<dyn Policy> {
        let heuristic = |config| Box::new(Heuristic::new(workers, config));
        let endless = Config::new(Duration::MAX, Duration::MAX).seed(config.seed);
        match self {
            Self::Filch => heuristic(config),
            Self::Fifo => Box::<Fifo>::default(),
            Self::AlwaysWait => heuristic(endless.near_first()),
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

/// One queue. A free worker takes the oldest job; a job goes to the worker that has been free for
/// longest. Caches do not matter.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    waiting: VecDeque<Job>,
    /// The free slots; the one free for longest comes first.
    free: VecDeque<Worker>,
}

impl Policy for Fifo {
    fn ready(&mut self, job: Job, moment: &mut Moment<'_, '_>) {
        match self.free.pop_front() {
            Some(worker) => moment.starts.push((worker, job)),
            None => self.waiting.push_back(job),
        }
    }

    fn free(&mut self, worker: Worker, moment: &mut Moment<'_, '_>) {
        match self.waiting.pop_front() {
            Some(job) => moment.starts.push((worker, job)),
            None => self.free.push_back(worker),
        }
    }
}
