//! The handle to a running supervisor.

use std::fmt;

use filch_promise::{Answer, answer};
use filch_scheduler::Protocol;

use crate::child::{Address, Child};
use crate::error::{Gone, NotAdded, SupervisorError};
use crate::info::ChildInfo;
use crate::mail::{Change, Mail, Reply};
use crate::plan::child::{ChildId, ChildRef};
use crate::plan::request::ChildError;

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
    /// supervisor does something else, or waits for the `init` of a child.
    ///
    /// # Errors
    /// [`ChildError::Stopping`], if it has ended.
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
