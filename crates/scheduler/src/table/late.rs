//! Messages beyond the limit of a mailbox, whose senders wait.
//!
//! Such a message is in the queue with the others, and has its place in the order of all; beside it
//! lies what tells its sender. So as many messages are beyond the limit as senders wait. A worker
//! that comes to it takes it for the process, and tells the sender when the process is given it, or
//! as soon as there would be room. It wakes any process, and a turn takes all such messages: so one
//! that waits for commands, perhaps for that sender's answer, does not keep it waiting beside room.

use std::collections::VecDeque;

use filch_process_table::MailboxLimit;
use filch_sync::panic::catch_panic;

use crate::{Pid, Protocol, SendError, Undelivered};

/// A message in a queue that had no room for it.
pub(crate) struct Late<P: Protocol> {
    to: Pid,
    /// Until a worker has come to it, or the process has ended.
    message: Option<(P::Message, TellSender<P>)>,
}

/// It is told once.
pub(crate) type TellSender<P> = Box<dyn FnOnce(Result<(), SendError<P>>) + Send>;

impl<P: Protocol> Late<P> {
    pub(crate) fn new(to: Pid, message: P::Message, tell: TellSender<P>) -> Self {
        let message = Some((message, tell));
        Self { to, message }
    }

    /// The message, and its sender, which is not told yet.
    pub(crate) fn take(mut self) -> (P::Message, TellSender<P>) {
        match self.message.take() {
            Some(taken) => taken,
            None => unreachable!("this uses it up"),
        }
    }
}

impl<P: Protocol> Drop for Late<P> {
    /// The process has ended: the sender gets it back.
    fn drop(&mut self) {
        if let Some((message, tell)) = self.message.take() {
            let error = SendError {
                to: self.to,
                reason: Undelivered::NoSuchProcess,
                message,
            };
            // What it tells is user code.
            let _ = catch_panic(|| tell(Err(error)));
        }
    }
}

/// The senders of messages that a worker has taken for the process, and that had no room: the
/// oldest first. Dropped, it tells them: the process has the messages, or had them.
pub(crate) struct LateSenders<P: Protocol>(VecDeque<TellSender<P>>);

impl<P: Protocol> LateSenders<P> {
    pub(crate) const fn new() -> Self {
        Self(VecDeque::new())
    }

    pub(crate) fn push(&mut self, sender: TellSender<P>) {
        self.0.push_back(sender);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells those whose messages the process has been given, or have room by now.
    pub(crate) fn tell(&mut self, mailbox: &MailboxLimit) {
        while !self.0.is_empty() && mailbox.admits(self.0.len()) {
            self.tell_one();
        }
    }

    fn tell_one(&mut self) -> bool {
        let sender = self.0.pop_front();
        // What it tells is user code.
        sender.map(|tell| catch_panic(|| tell(Ok(())))).is_some()
    }
}

impl<P: Protocol> Drop for LateSenders<P> {
    fn drop(&mut self) {
        while self.tell_one() {}
    }
}
