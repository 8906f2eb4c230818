//! What others have to say to a supervisor: requests, and what its children report; and where they
//! say it.

use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use filch_event_queue::{Receiver, Sender, channel};
use filch_scheduler::HandedBack;
use filch_sync::hint;

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
pub(crate) type Found<C> = Box<dyn FnOnce(Result<Address<C>, ChildError>) + Send>;

/// What is to be done with a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    End,
    Restart,
    Delete,
}

/// How a supervisor has ended.
pub(crate) type End = Result<(), SupervisorError>;

/// Where a supervisor gets its mail, for as long as it lives; and after that, how it has ended.
pub(crate) struct Address<C> {
    mail: Sender<Mail<C>>,
    end: Arc<OnceLock<End>>,
}

/// What a supervisor finds there. Whatever becomes of it, all mail is answered: dropping this says
/// that the supervisor has ended.
pub(crate) struct Mailbox<C: Send> {
    mail: Receiver<Mail<C>>,
    /// Whether its process's waker lies there, for the push that comes next.
    waits: bool,
    end: Arc<OnceLock<End>>,
    /// How it ends, if now.
    ending: End,
    /// Those that wait for its end.
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
        waits: false,
        end,
        ending: Err(SupervisorError::Terminated),
        at_end: Vec::new(),
    };
    (address, mailbox)
}

impl<C: Send> Address<C> {
    /// Sends it there, or answers at once. Lock-free, except for memory.
    pub(crate) fn send(&self, mail: Mail<C>) {
        if let Err(refused) = self.mail.push(mail) {
            refused.into_inner().refuse(self.end.get());
        }
    }
}

impl<C: Send> Mailbox<C> {
    /// The next mail that is there. Polled by one process alone.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Mail<C>> {
        if self.waits && self.mail.is_empty() {
            // Nobody has come for the waker, which is that of the same process.
            return Poll::Pending;
        }
        self.waits = false;
        if let Poll::Ready(Some(mail)) = self.mail.poll_recv(context) {
            return Poll::Ready(mail);
        }
        self.waits = self.mail.is_empty();
        if !self.waits {
            // A push is under way, and this is polled again at once until that is done: it spins.
            hint::spin_loop();
        }
        Poll::Pending
    }

    /// Has this one told how the supervisor has ended.
    pub(crate) fn tell_at_end(&mut self, reply: Reply<(), SupervisorError>) {
        self.at_end.push(reply);
    }

    /// The supervisor has ended, and not because it was terminated.
    pub(crate) fn close(mut self, end: End) {
        self.ending = end;
    }
}

impl<C: Send> Drop for Mailbox<C> {
    /// The end is there before the mail is closed: a push that is refused finds it. This waits for
    /// a push that is under way, for an instant: in the queue its reply would last as long as the
    /// handle does that waits for the answer.
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
    /// The supervisor has ended like that: a child comes back. All other replies say it when they
    /// are dropped.
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
