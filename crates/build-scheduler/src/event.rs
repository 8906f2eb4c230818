//! What callers ask of a scheduler, each with the place for its answer.

use std::sync::Arc;

use crate::answer::{Answer, Reply};
use crate::error::{JobError, PickError, ReportError, Stopped};
use crate::job::Job;
use crate::planner::{Counts, WorkerId};

pub(crate) type JobReply<R> = Reply<Arc<R>, JobError>;
pub(crate) type PickReply<I, S> = Reply<Arc<Job<I, S>>, PickError>;
pub(crate) type ReportReply<T> = Reply<T, ReportError>;

/// Names a pick before the planner knows it.
pub(crate) type Ticket = usize;

pub(crate) enum Event<I, S, R> {
    Schedule(Arc<Job<I, S>>, JobReply<R>),
    Pick(WorkerId, Ticket, PickReply<I, S>),
    /// If the pick still waits, it ends.
    Cancel(Ticket),
    /// Nobody is there any more to take what the pick brings.
    Abandon(WorkerId, Ticket, Answer<Arc<Job<I, S>>, PickError>),
    Complete(WorkerId, I, Arc<R>, ReportReply<bool>),
    Fail(WorkerId, I, Arc<R>, ReportReply<()>),
    GiveBack(WorkerId, I, ReportReply<()>),
    AddArtifact(WorkerId, I, ReportReply<()>),
    RemoveArtifact(WorkerId, I, ReportReply<bool>),
    Locate(I, Reply<Option<WorkerId>, Stopped>),
    Register(Reply<WorkerId, Stopped>),
    RemoveWorker(WorkerId, ReportReply<Vec<I>>),
    Count(Reply<Counts, Stopped>),
    /// A deadline has come.
    Tick,
    Stop(Reply<(), Stopped>),
}
