//! The handle to a running supervisor, and what it tells.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use filch_promise::{Answer, answer};
use filch_scheduler::{HandedBack, Pid, Protocol};

use crate::child::{Address, Child};
use crate::mail::{Change, Mail, Reply};
use crate::plan::child::{ChildId, ChildRef, State};
use crate::plan::event::{ChildError, Failure};

/// The handle to a supervisor, for requests. Clones are handles to the same one. Dropping them does
/// not change it.
///
/// All methods are lock-free, and return at once: the supervisor handles requests one by one, and
/// answers each when it is done.
pub struct SupervisorHandle<P: Protocol> {
    mail: Address<P>,
}

impl<P: Protocol> Clone for SupervisorHandle<P> {
    fn clone(&self) -> Self {
        Self {
            mail: self.mail.clone(),
        }
    }
}

impl<P: Protocol> SupervisorHandle<P> {
    pub(crate) fn new(mail: Address<P>) -> Self {
        Self { mail }
    }

    /// Adds a child after the others, and starts it.
    ///
    /// # Errors
    /// [`NotAdded`], with the child: [`ChildError::NameTaken`], [`ChildError::NotStarted`],
    /// [`ChildError::Stopping`].
    pub fn start_child(&self, child: Child<P>) -> Answer<ChildId, NotAdded<Child<P>>> {
        self.ask(|reply| Mail::Start(child, reply))
    }

    /// Ends a child without a restart, and answers when it has ended. Cancels a restart for which
    /// it waits. The child stays, to be [started again](Self::restart_child) or
    /// [deleted](Self::delete_child), unless it is temporary or the supervisor's children are
    /// [dynamic](crate::Strategy::Dynamic). If its group begins anew, it does, too.
    ///
    /// # Errors
    /// [`ChildError::Unknown`], [`ChildError::Stopping`].
    #[doc(alias = "terminate_child")]
    pub fn end_child(&self, child: impl Into<ChildRef>) -> Answer<ChildId, ChildError> {
        let child = child.into();
        self.ask(|reply| Mail::Change(Change::End, child, reply))
    }

    /// Starts again a child that has ended.
    ///
    /// # Errors
    /// [`ChildError::Unknown`], [`ChildError::Running`], [`ChildError::Restarting`],
    /// [`ChildError::NotStarted`], [`ChildError::Stopping`].
    pub fn restart_child(&self, child: impl Into<ChildRef>) -> Answer<ChildId, ChildError> {
        let child = child.into();
        self.ask(|reply| Mail::Change(Change::Restart, child, reply))
    }

    /// Forgets a child that has ended.
    ///
    /// # Errors
    /// [`ChildError::Unknown`], [`ChildError::Running`], [`ChildError::Restarting`],
    /// [`ChildError::Stopping`].
    pub fn delete_child(&self, child: impl Into<ChildRef>) -> Answer<ChildId, ChildError> {
        let child = child.into();
        self.ask(|reply| Mail::Change(Change::Delete, child, reply))
    }

    /// Lists the children, in the order of their start. It is answered at once, even while the
    /// supervisor does something else, but for the `init` of a child whose start has no
    /// [limit](Child::start_within).
    ///
    /// # Errors
    /// [`ChildError::Stopping`], if it has ended.
    #[doc(alias = "which_children")]
    pub fn children(&self) -> Answer<Vec<ChildInfo>, ChildError> {
        self.ask(Mail::List)
    }

    /// Returns the handle to a child that is a supervisor, in its present life. It is answered at
    /// once.
    ///
    /// # Errors
    /// [`ChildError::Unknown`], if there is no such child, or it is no running supervisor;
    /// [`ChildError::Stopping`].
    pub fn below(&self, child: impl Into<ChildRef>) -> Answer<Self, ChildError> {
        let child = child.into();
        self.ask(|reply| {
            let found = |mail: Result<_, _>| reply.tell(mail.map(Self::new));
            Mail::Below(child, Box::new(found))
        })
    }

    /// Asks the supervisor to end, at once, whatever it does: it ends its children, last first,
    /// each as its [`Shutdown`](crate::Shutdown) says. It is answered when that is done.
    ///
    /// # Errors
    /// As for [`ended`](Self::ended): it may be about to end by itself, or have done so.
    pub fn stop(&self) -> Answer<(), SupervisorError> {
        self.ask(Mail::Stop)
    }

    /// Waits for its end, without asking for it. If it has ended, the answer is there. All callers
    /// get the same answer, from any clone, before the end or after it.
    ///
    /// # Errors
    /// [`SupervisorError::Failed`], [`SupervisorError::Terminated`].
    pub fn ended(&self) -> Answer<(), SupervisorError> {
        self.ask(Mail::AwaitEnd)
    }

    fn ask<T, E: From<Gone>>(
        &self,
        mail: impl FnOnce(Reply<T, E>) -> Mail<Child<P>>,
    ) -> Answer<T, E> {
        let (reply, answer) = answer();
        self.mail.send(mail(reply));
        answer
    }
}

impl<P: Protocol> fmt::Debug for SupervisorHandle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SupervisorHandle").finish_non_exhaustive()
    }
}

/// The facts about a child that its supervisor reports.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildInfo {
    /// Its id.
    pub id: ChildId,
    /// Its name, if it has one.
    pub name: Option<Arc<str>>,
    /// The stage of its lives.
    pub state: ChildState,
    /// Its process, if it has one.
    pub pid: Option<Pid>,
}

/// The stage of a child's lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChildState {
    /// It is being started: its start has a [limit](crate::Child::start_within), or it is a
    /// supervisor that is starting its own children.
    Starting,
    /// It has a process.
    Running,
    /// Its process has been told to end, and has not ended yet.
    Ending,
    /// It has no process, and waits for its restart.
    Waiting {
        /// The time of the restart.
        until: Instant,
    },
    /// It has no process.
    Ended,
}

impl From<&State> for ChildState {
    fn from(state: &State) -> Self {
        match *state {
            State::Ended | State::Fallen { .. } => Self::Ended,
            State::Waiting { until } => Self::Waiting { until },
            State::Starting { .. } => Self::Starting,
            State::Running { .. } => Self::Running,
            State::Ending { .. } => Self::Ending,
        }
    }
}

/// The supervisor has ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gone;

impl From<Gone> for ChildError {
    fn from(_: Gone) -> Self {
        Self::Stopping
    }
}

/// The end of a supervisor that nobody asked for, or the reason why it did not start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SupervisorError {
    /// It ended by itself.
    Failed(Failure),
    /// Two of its first children have this name.
    NameTaken(Box<str>),
    /// Its own process was not started, for the scheduler's reason.
    NotStarted(Box<str>),
    /// It was asked to end before all children had been started.
    Stopped,
    /// Its process was ended from outside, and its children with it.
    Terminated,
}

impl From<Gone> for SupervisorError {
    fn from(_: Gone) -> Self {
        Self::Terminated
    }
}

impl From<Failure> for SupervisorError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl fmt::Display for SupervisorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failure) => failure.fmt(f),
            Self::NameTaken(name) => write!(f, "two children have the name `{name}`"),
            Self::NotStarted(reason) => write!(f, "the supervisor did not start: {reason}"),
            Self::Stopped => f.write_str("the supervisor was stopped before it had begun"),
            Self::Terminated => f.write_str("the supervisor was ended from outside"),
        }
    }
}

impl Error for SupervisorError {}

/// The reason why a child was not started at run time, and the child, unless the supervisor is
/// still ending it, or has gone.
pub struct NotAdded<C> {
    /// The reason.
    pub error: ChildError,
    /// The child.
    pub child: Option<HandedBack<C>>,
}

impl<C> From<Gone> for NotAdded<C> {
    fn from(gone: Gone) -> Self {
        Self {
            error: gone.into(),
            child: None,
        }
    }
}

impl<C> fmt::Display for NotAdded<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<C> fmt::Debug for NotAdded<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NotAdded({self})")
    }
}

impl<C> Error for NotAdded<C> {}
