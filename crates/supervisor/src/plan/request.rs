//! The requests to a supervisor at run time, and its answers.

use std::error::Error;
use std::fmt;

use filch_scheduler::ExitReason;

use crate::plan::child::{ChildId, ChildRef, Spec};

/// Tells the requests of one supervisor apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RequestId(pub(crate) u64);

/// A request about a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Request<M> {
    /// Add this child, and start it.
    Start(Spec<M>),
    /// End its process, and do not restart it.
    End(ChildRef),
    /// Start a child again that has ended.
    Restart(ChildRef),
    /// Forget a child that has ended.
    Delete(ChildRef),
}

/// The child of the request; or the refusal.
pub(crate) type Answer<M> = Result<ChildId, Refused<M>>;

/// The reason of a refusal, and the child to be added, unless it is still being ended.
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

/// The reason why a supervisor refused a request about a child.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChildError {
    /// It has no such child.
    Unknown,
    /// It has a child of that name already.
    NameTaken,
    /// The child has a process: end it first.
    Running,
    /// The child waits for its restart: cancel that first, by ending the child.
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
