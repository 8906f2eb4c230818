//! The events that go into the plan, the work that they make, and the actions that come out.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use filch_scheduler::ExitReason;

use crate::plan::child::{ChildId, ChildRef, Life};
use crate::plan::request::{Answer, Request, RequestId};

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
