//! Mailbox policies, which decide on each message.

use std::any::Any;
use std::collections::VecDeque;
use std::error::Error;
use std::sync::Arc;
use std::task::Poll;

use filch_process_state::Reason;

use crate::handle::send::refused;
use crate::protocol::debug_fields;
use crate::table::body::{Item, Signal};
use crate::table::slot::Slot;
use crate::{Handle, Pid, ProcessError, Protocol, SendError, Undelivered};

/// Decides on the messages to one process; given at its
/// [submission](crate::Submission::mailbox_policy). Called by senders, and by the worker that runs
/// the process.
pub trait MailboxPolicy<P: Protocol>: Any + Send + Sync {
    /// Takes a message for the process: [pushes](Door::push) it, keeps it, drops it or hands it
    /// back.
    ///
    /// # Errors
    /// The message.
    fn send(&self, to: &Door<'_, P>, message: P::Message) -> Result<(), SendError<P>>;

    /// Takes a message whose sender waits for room, if it may `wait`, and else wants it back, not
    /// dropped. Returns the outcome; `Pending` if the sender waits: then `wait` was called once,
    /// and the callback that it returned is called with the outcome.
    fn send_patiently(
        &self,
        to: &Door<'_, P>,
        message: P::Message,
        wait: Option<Wait<'_, P>>,
    ) -> Poll<Result<(), SendError<P>>>;

    /// Counts messages that a step is about to be given, or that a process which [reads them
    /// later](crate::Submission::reads_later) has read.
    fn delivered(&self, messages: usize);

    /// Returns messages that it has kept: called once for each [announcement](Door::announce), when
    /// a worker comes to its place in the process's queue.
    fn fetch(&self) -> VecDeque<P::Message> {
        VecDeque::new()
    }

    /// Drops the kept messages, as the process has ended.
    fn close(&self, to: &Door<'_, P>);

    /// Returns the number of messages that wait.
    fn undelivered(&self) -> usize;
}

/// The callback of a sender that waits, called once.
pub type TellSender<P> = Box<dyn FnOnce(Result<(), SendError<P>>) + Send>;

/// Makes the callback of a sender that is about to wait. Called under the policy's lock, so it
/// leaves processes alone.
pub type Wait<'a, P> = &'a mut dyn FnMut() -> TellSender<P>;

/// The process of a mailbox, as its [policy](MailboxPolicy) sees it.
pub struct Door<'a, P: Protocol> {
    handle: &'a Handle<P>,
    slot: &'a Slot<P>,
    pid: Pid,
    /// Runs a process that a message makes Ready.
    run: &'a dyn Fn(&Slot<P>),
}

impl<P: Protocol> Door<'_, P> {
    /// Returns the PID of the process.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Returns the handle to the scheduler.
    pub fn handle(&self) -> &Handle<P> {
        self.handle
    }

    /// Checks if the process has begun to end, so that nothing reaches it any more. A policy that
    /// keeps messages asks under the lock that its [`close`](MailboxPolicy::close) takes.
    pub fn is_over(&self) -> bool {
        self.slot.events.is_closed()
    }

    /// Puts the message into the process's queue, and wakes it.
    ///
    /// # Errors
    /// The message: the process has ended.
    pub fn push(&self, message: P::Message) -> Result<(), SendError<P>> {
        self.handle
            .push_message(self.pid, self.slot, message, self.run)
    }

    /// Has messages [fetched](MailboxPolicy::fetch) when a worker comes to this place in the
    /// process's queue.
    pub fn announce(&self) {
        let item = Item::Signal(Signal::Fetch);
        // Refused: the process has just ended, and what was kept goes with it.
        let _ = (self.handle).push(self.slot, item, Reason::Message, self.run);
    }

    /// Ends the process with that error, as soon as a worker has it.
    pub fn fail(&self, error: Box<dyn Error + Send + Sync>) {
        // If it ends by itself meanwhile, that will do.
        let failed = Box::new(ProcessError::FunctionFailed(error));
        let _ = self.handle.signal(self.pid, Signal::End(failed));
    }

    /// Makes the error with which a policy hands the message back.
    pub fn refused(&self, reason: Undelivered, message: P::Message) -> SendError<P> {
        refused(self.pid, reason, message)
    }
}

debug_fields!(Door<'_, P>, "Door", pid);

impl<P: Protocol> Handle<P> {
    /// Returns the policy of the process in the slot, which the caller has or has pinned.
    pub(crate) fn policy<'a>(&self, slot: &'a Slot<P>) -> Option<&'a Arc<dyn MailboxPolicy<P>>> {
        // SAFETY: the caller's: see above.
        unsafe { slot.policy() }
    }

    /// Makes the door of the process in the slot, which the caller has or has pinned. If a message
    /// makes the process Ready, `run` enqueues it, or runs it.
    pub(crate) fn door<'a>(&'a self, slot: &'a Slot<P>, run: &'a dyn Fn(&Slot<P>)) -> Door<'a, P> {
        Door {
            handle: self,
            slot,
            pid: self.table().pid_of(slot),
            run,
        }
    }

    /// As [`send`](Self::send), but a message without room waits for it, if it may `wait` and the
    /// [policy](MailboxPolicy) of its mailbox allows it: see [`MailboxPolicy::send_patiently`].
    pub fn send_patiently(
        &self,
        to: Pid,
        message: P::Message,
        wait: Option<Wait<'_, P>>,
    ) -> Poll<Result<(), SendError<P>>> {
        if let Some(process) = self.pin(to)
            && let Some(policy) = self.policy(process.slot())
        {
            let run = |slot: &_| self.enqueue(slot);
            return policy.send_patiently(&self.door(process.slot(), &run), message, wait);
        }
        Poll::Ready(self.send(to, message))
    }

    /// Closes the mailbox of a process that is over, its queue closed. The caller still has a pin.
    #[cold]
    #[inline(never)]
    pub(crate) fn close_mailbox(&self, slot: &Slot<P>) {
        if let Some(policy) = self.policy(slot) {
            policy.close(&self.door(slot, &|slot| self.enqueue(slot)));
        }
    }
}
