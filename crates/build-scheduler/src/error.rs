//! The answer to a caller: a value that comes when the scheduler has it, or an error.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// There is no such worker: it was removed, or never registered here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownWorker;

impl fmt::Display for UnknownWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such worker: it was removed, or never registered")
    }
}

impl Error for UnknownWorker {}

/// The scheduler was stopped, or its last handle was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the scheduler was stopped")
    }
}

impl Error for Stopped {}

/// The reason why a scheduled job has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobError {
    /// A job of the same id is pending, with other dependencies or another content.
    Conflict,
    /// The job was withdrawn.
    Withdrawn,
    /// The scheduler was stopped.
    Stopped,
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => f.write_str("another job of the same id is pending"),
            Self::Withdrawn => f.write_str("the job was withdrawn"),
            Self::Stopped => Stopped.fmt(f),
        }
    }
}

impl Error for JobError {}

impl From<Stopped> for JobError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// The reason why a pick got no job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PickError {
    /// The pick was cancelled.
    Cancelled,
    /// There is no such worker, or it was removed while the pick waited.
    UnknownWorker,
    /// The scheduler was stopped.
    Stopped,
}

impl fmt::Display for PickError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("the pick was cancelled"),
            Self::UnknownWorker => UnknownWorker.fmt(f),
            Self::Stopped => Stopped.fmt(f),
        }
    }
}

impl Error for PickError {}

impl From<Stopped> for PickError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<UnknownWorker> for PickError {
    fn from(_: UnknownWorker) -> Self {
        Self::UnknownWorker
    }
}

/// The reason why a worker's report is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportError {
    /// There is no such worker.
    UnknownWorker,
    /// The worker does not run that job: it never did, the job is over, or was given back.
    NotRunning,
    /// The scheduler was stopped. A [`Planner`](crate::Planner) never returns this.
    Stopped,
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownWorker => UnknownWorker.fmt(f),
            Self::NotRunning => f.write_str("the worker does not run that job"),
            Self::Stopped => Stopped.fmt(f),
        }
    }
}

impl Error for ReportError {}

impl From<UnknownWorker> for ReportError {
    fn from(_: UnknownWorker) -> Self {
        Self::UnknownWorker
    }
}

impl From<Stopped> for ReportError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// The scheduler's answer: await it in a task, or wait for it in a thread, but never in a waker
/// that the scheduler calls.
pub type Answer<T, E = Stopped> = filch_promise::Answer<T, E>;

/// The result of a scheduled job, when there is one.
pub type Pending<R> = Answer<Arc<R>, JobError>;

/// The scheduler's end of an answer. A drop without an answer says that the scheduler was stopped.
pub(crate) type Reply<T, E> = filch_promise::Reply<T, E, Stopped>;
