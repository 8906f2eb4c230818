//! The events and requests that go into the plan, the work that they make, and the actions and
//! answers that come out.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use filch_scheduler::ExitReason;

use crate::plan::child::{ChildId, ChildRef, Life, Spec};

/// An event.
#[derive(Debug)]
pub(crate) enum Event<M> {
    /// The supervisor begins, with its first children.
    Begin,
    /// A child that the plan [started](Action::Start) runs.
    Started { child: ChildId, life: Life },
    /// A life is over, in whatever way: of a child that ran, or that did not start.
    Ended {
        child: ChildId,
        life: Life,
        reason: ExitReason,
    },
    /// The plan's deadline has come.
    Time,
    /// A user makes a request.
    Request(RequestId, Request<M>),
    /// The supervisor must end.
    Stop,
}

/// An action that the driver must do.
#[derive(Debug)]
pub(crate) enum Action<M> {
    /// Start a process of the child, and report `Started` or `Ended`.
    Start { child: ChildId, life: Life },
    /// Ask the child's process to end.
    AskToEnd(ChildId),
    /// End the child's process.
    Terminate(ChildId),
    /// End the process of a start that goes on, or that it comes to have; nothing more is reported.
    GiveUp { child: ChildId, life: Life },
    /// Report that all first children have been started.
    Begun,
    /// The answer to a request: one each.
    Answer(RequestId, Answer<M>),
    /// The supervisor ends. No child has a process.
    End(Result<(), Failure>),
}

/// Children to end, then children to start, one after another, for a purpose.
#[derive(Debug)]
pub(crate) struct Job {
    /// The last of the list comes next, and is the last of the order.
    pub(crate) to_end: Vec<ChildId>,
    /// The last of the list comes next, and is the first of the order.
    pub(crate) to_start: Vec<ChildId>,
    pub(crate) purpose: Purpose,
}

/// The purpose of a job.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// The supervisor begins.
    Begin,
    /// A child has failed, or its pause is over: its group begins anew.
    Restart,
    /// A child has failed: its group is ended, and the child waits for that duration.
    Pause(ChildId, Duration),
    /// A request to add this child and to start it.
    Add(RequestId, ChildId),
    /// A request to end this child, or to start it again.
    Change(RequestId, ChildId),
    /// The supervisor ends.
    Stop(Result<(), Failure>),
}

impl Job {
    pub(crate) fn ending(to_end: Vec<ChildId>, purpose: Purpose) -> Self {
        Self {
            to_end,
            to_start: Vec::new(),
            purpose,
        }
    }

    pub(crate) fn starting(to_start: Vec<ChildId>, purpose: Purpose) -> Self {
        Self {
            to_end: Vec::new(),
            to_start,
            purpose,
        }
    }
}

/// The reason why a supervisor ended by itself. It has ended its children before.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// This child did not start when the supervisor began.
    NotStarted {
        /// The child.
        child: ChildRef,
        /// The reason.
        reason: ExitReason,
    },
    /// Its children failed more often than it allows.
    TooManyFailures {
        /// The last child that failed.
        child: ChildRef,
        /// The reason of its end, or why it did not start again.
        reason: ExitReason,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted { child, reason } => {
                write!(f, "the child {child} did not start: {reason}")
            }
            Self::TooManyFailures { child, reason } => {
                write!(
                    f,
                    "children failed too often, the last one was {child}: {reason}"
                )
            }
        }
    }
}

impl Error for Failure {}

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
