//! What others have to say to a supervisor: requests, and what its children report.

use filch_event_queue::Sender;
use filch_scheduler::HandedBack;

use crate::error::{Gone, NotAdded, SupervisorError};
use crate::info::ChildInfo;
use crate::plan::child_id::{ChildId, ChildRef, Life};
use crate::plan::request::ChildError;

/// The supervisor's end of an answer. If it is dropped without one, the supervisor has ended.
pub(crate) type Reply<T, E> = filch_promise::Reply<T, E, Gone>;

/// What others have to say to a supervisor, whose children are `C`s.
pub(crate) enum Mail<C> {
    /// Add this child, and start it.
    Start(C, Reply<ChildId, NotAdded<C>>),
    /// Do that with a child.
    Change(Change, ChildRef, Reply<ChildId, ChildError>),
    /// Say which children there are.
    List(Reply<Vec<ChildInfo>, ChildError>),
    /// Say where a child that is a supervisor gets its mail.
    Below(ChildRef, Found<C>),
    /// End, and say when that is done.
    Stop(Reply<(), SupervisorError>),
    /// Say when you have ended.
    AwaitEnd(Reply<(), SupervisorError>),
    /// A child that is a supervisor has begun.
    Begun(ChildId, Life),
}

/// Is told where that is.
pub(crate) type Found<C> = Box<dyn FnOnce(Result<Sender<Mail<C>>, ChildError>) + Send>;

/// What is to be done with a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    End,
    Restart,
    Delete,
}

impl<C> Mail<C> {
    /// Nobody does that any more: the child comes back. All other replies say it when they are
    /// dropped.
    pub(crate) fn refuse(self) {
        if let Self::Start(child, reply) = self {
            let error = ChildError::Stopping;
            let child = Some(HandedBack::new(child));
            reply.tell(Err(NotAdded { error, child }));
        }
    }
}
