//! The events that go into the plan, and the actions that come out.

use filch_scheduler::ExitReason;

use crate::plan::child_id::{ChildId, Life};
use crate::plan::failure::Failure;
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
    /// Report that all first children have been started.
    Begun,
    /// The answer to a request: one each.
    Answer(RequestId, Answer<M>),
    /// The supervisor ends. No child has a process.
    End(Result<(), Failure>),
}
