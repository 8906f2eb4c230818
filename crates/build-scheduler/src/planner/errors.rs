//! What a planner refuses.

use std::error::Error;
use std::fmt;

/// There is no such worker: it was removed, or never registered here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownWorker;

impl fmt::Display for UnknownWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such worker: it was removed, or never registered")
    }
}

impl Error for UnknownWorker {}

/// Why a worker's report about a job that it runs is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportError {
    /// There is no such worker.
    UnknownWorker,
    /// The worker does not run that job: it never did, the job is over, or it was given back.
    NotRunning,
    /// The scheduler was stopped.
    Stopped,
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownWorker => UnknownWorker.fmt(f),
            Self::NotRunning => f.write_str("the worker does not run that job"),
            Self::Stopped => f.write_str("the scheduler was stopped"),
        }
    }
}

impl Error for ReportError {}

impl From<UnknownWorker> for ReportError {
    fn from(_: UnknownWorker) -> Self {
        Self::UnknownWorker
    }
}

/// A job of that id waits or runs already.
#[derive(Debug)]
pub struct AlreadyPending<'a, J> {
    /// What was given with the job that is there.
    pub there: &'a mut J,
    /// What was given now.
    pub content: J,
}
