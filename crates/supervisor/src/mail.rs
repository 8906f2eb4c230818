//! The mail of a supervisor: requests, reports of its children, and the address to send them to.

use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use filch_event_queue::{Receiver, Sender, channel};
use filch_scheduler::{HandedBack, Pid};

use crate::child::NotMade;
use crate::handle::{ChildInfo, Gone, NotAdded, SupervisorError};
use crate::plan::child::{ChildId, ChildRef, Life};
use crate::plan::event::ChildError;

/// The supervisor's end of an answer. A drop without an answer says that the supervisor has ended.
pub(crate) type Reply<T, E> = filch_promise::Reply<T, E, Gone>;

/// A letter to a supervisor whose children are `C`s.
pub(crate) enum Mail<C> {
    /// Add this child, and start it.
    Start(C, Reply<ChildId, NotAdded<C>>),
    /// Make this change to a child.
    Change(Change, ChildRef, Reply<ChildId, ChildError>),
    /// List the children.
    List(Reply<Vec<ChildInfo>, ChildError>),
    /// Return the address of a child that is a supervisor.
    Below(ChildRef, Found<C>),
    /// End, and answer when that is done.
    Stop(Reply<(), SupervisorError>),
    /// Answer when you have ended.
    AwaitEnd(Reply<(), SupervisorError>),
    /// A child has this process, whose `init` is to run.
    Born(ChildId, Life, Pid),
    /// The start of a child that has a limit has returned.
    Made(ChildId, Life, Result<(), NotMade>),
    /// A child that is a supervisor has begun.
    Begun(ChildId, Life),
}

/// Gets the address.
pub(crate) type Found<C> = Box<dyn FnOnce(Result<Address<C>, ChildError>) + Send>;

/// A change to a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    End,
    Restart,
    Delete,
}

/// The outcome of a supervisor.
pub(crate) type End = Result<(), SupervisorError>;

/// The address of a supervisor's mail, for its life; afterwards, its outcome.
pub(crate) struct Address<C> {
    mail: Sender<Mail<C>>,
    end: Arc<OnceLock<End>>,
}

/// The receiving end of a supervisor's mail. All mail is answered: dropping this says that the
/// supervisor has ended.
pub(crate) struct Mailbox<C: Send> {
    mail: Receiver<Mail<C>>,
    end: Arc<OnceLock<End>>,
    /// Its outcome, if it ended now.
    ending: End,
    /// The callers that wait for its end.
    at_end: Vec<Reply<(), SupervisorError>>,
}

/// The two sides of a supervisor's mail.
pub(crate) fn mailbox<C: Send>() -> (Address<C>, Mailbox<C>) {
    let (sender, receiver) = channel();
    let end = Arc::new(OnceLock::new());
    let address = Address {
        mail: sender,
        end: Arc::clone(&end),
    };
    let mailbox = Mailbox {
        mail: receiver,
        end,
        ending: Err(SupervisorError::Terminated),
        at_end: Vec::new(),
    };
    (address, mailbox)
}

impl<C: Send> Address<C> {
    /// Sends the mail, or answers at once. Lock-free, except in the allocator.
    pub(crate) fn send(&self, mail: Mail<C>) {
        if let Err(refused) = self.mail.push(mail) {
            refused.into_inner().refuse(self.end.get());
        }
    }
}

impl<C: Send> Mailbox<C> {
    /// Returns the next letter, if there is one.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Mail<C>> {
        match self.mail.poll_recv(context) {
            Poll::Ready(Some(mail)) => Poll::Ready(mail),
            _ => Poll::Pending,
        }
    }

    /// Returns the next letter, if it has come.
    pub(crate) fn try_next(&mut self) -> Option<Mail<C>> {
        self.mail.try_recv().ok()
    }

    /// Keeps a reply to be sent when the supervisor has ended.
    pub(crate) fn tell_at_end(&mut self, reply: Reply<(), SupervisorError>) {
        self.at_end.push(reply);
    }

    /// Sets the outcome of a supervisor that was not terminated, and closes the mail.
    pub(crate) fn close(mut self, end: End) {
        self.ending = end;
    }
}

impl<C: Send> Drop for Mailbox<C> {
    /// Stores the outcome before it closes the mail: a refused push finds it. Spins for an instant
    /// while a push is under way: left in the queue, its reply would last as long as the handle
    /// that waits for the answer.
    fn drop(&mut self) {
        let end = self.end.get_or_init(|| self.ending.clone());
        self.mail.close();
        for reply in self.at_end.drain(..) {
            reply.tell(end.clone());
        }
        while let Some(mail) = self.mail.recv() {
            mail.refuse(Some(end));
        }
    }
}

impl<C> Mail<C> {
    /// Answers with the outcome of the supervisor; a child comes back. Other replies report it by
    /// being dropped.
    fn refuse(self, end: Option<&End>) {
        match self {
            Self::Start(child, reply) => {
                let error = ChildError::Stopping;
                let child = Some(HandedBack::new(child));
                reply.tell(Err(NotAdded { error, child }));
            }
            Self::Stop(reply) | Self::AwaitEnd(reply) => {
                if let Some(end) = end {
                    reply.tell(end.clone());
                }
            }
            _ => {}
        }
    }
}

impl<C> Clone for Address<C> {
    fn clone(&self) -> Self {
        Self {
            mail: self.mail.clone(),
            end: Arc::clone(&self.end),
        }
    }
}
