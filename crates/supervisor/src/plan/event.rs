//! What goes into the plan, and what comes out of it.

use filch_scheduler::ExitReason;

use crate::plan::child_id::{ChildId, Life};
use crate::plan::failure::Failure;
use crate::plan::request::{Answer, Request, RequestId};

/// What happened.
#[derive(Debug)]
pub(crate) enum Event<M> {
    /// The supervisor begins, with the children that it has.
    Begin,
    /// A child that was to be [started](Action::Start) has been.
    Started { child: ChildId, life: Life },
    /// A life is over, however it ended: of a child that had been started, or that did not start.
    Ended {
        child: ChildId,
        life: Life,
        reason: ExitReason,
    },
    /// The plan's deadline has come.
    Time,
    /// Somebody asks for something.
    Request(RequestId, Request<M>),
    /// The supervisor is to end.
    Stop,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Action<M> {
    /// Give the child a process. What comes of it is told: `Started` or `Ended`.
    Start { child: ChildId, life: Life },
    /// Ask the child's process to end.
    AskToEnd(ChildId),
    /// End the child's process.
    Terminate(ChildId),
    /// All children that there were have been started: say so.
    Begun,
    /// The answer to a request: one each.
    Answer(RequestId, Answer<M>),
    /// The supervisor ends. No child has a process.
    End(Result<(), Failure>),
}
