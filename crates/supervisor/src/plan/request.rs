//! What a supervisor is asked at run time, and what it answers.

use std::error::Error;
use std::fmt;

use filch_scheduler::ExitReason;

use crate::plan::child::Spec;
use crate::plan::child_id::{ChildId, ChildRef};

/// Tells the requests of one supervisor apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RequestId(pub(crate) u64);

/// What a supervisor is asked to do with a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Request<M> {
    /// Add this child, and start it.
    Start(Spec<M>),
    /// End its process, and do not restart it.
    End(ChildRef),
    /// Start it again, which has ended.
    Restart(ChildRef),
    /// Forget it, which has ended.
    Delete(ChildRef),
}

/// Which child it was about; or why it was not done.
pub(crate) type Answer<M> = Result<ChildId, Refused<M>>;

/// Why it was not done, and the child that was to be added, unless it is still being ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused<M> {
    pub(crate) error: ChildError,
    pub(crate) spec: Option<Spec<M>>,
}

impl<M> From<ChildError> for Refused<M> {
    fn from(error: ChildError) -> Self {
        Self { error, spec: None }
    }
}

/// Why a supervisor did not do with a child what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChildError {
    /// It has no such child.
    Unknown,
    /// It has a child of that name already.
    NameTaken,
    /// The child has a process, which has to be ended first.
    Running,
    /// The child waits for its restart, which has to be called off first, by ending it.
    Restarting,
    /// The child's process was not started, for this reason.
    NotStarted(ExitReason),
    /// The supervisor is ending, or has ended.
    Stopping,
}

impl fmt::Display for ChildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("the supervisor has no such child"),
            Self::NameTaken => f.write_str("the supervisor has a child of that name already"),
            Self::Running => f.write_str("the child is running: end it first"),
            Self::Restarting => f.write_str("the child waits for its restart: end it first"),
            Self::NotStarted(reason) => write!(f, "the child did not start: {reason}"),
            Self::Stopping => f.write_str("the supervisor is ending, or has ended"),
        }
    }
}

impl Error for ChildError {}
