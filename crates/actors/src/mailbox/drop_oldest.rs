//! Mailboxes that keep the latest messages.
//!
//! Only the one consumer of a process's queue can take messages out, and a sender is not it. So
//! these messages lie apart, behind a lock, with an announcement in the queue while there are any;
//! the worker that comes to the announcement takes them all.

use std::collections::VecDeque;
use std::mem;

use filch_scheduler::{Door, MailboxPolicy, Protocol, SendError, Undelivered};
use filch_sync::panic::{drop_all_contained, drop_contained};
use filch_sync::{Mutex, lock};

/// The latest messages of one process that no worker has taken yet.
pub(crate) struct DropOldestMailbox<P: Protocol> {
    most: usize,
    messages: Mutex<VecDeque<P::Message>>,
}

/// The outcome of keeping a message.
struct Kept {
    /// It is the only one, so the process must be told.
    is_first: bool,
    /// The oldest message was dropped for it.
    has_dropped: bool,
}

impl<P: Protocol> DropOldestMailbox<P> {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            messages: Mutex::new(VecDeque::new()),
        }
    }

    /// Keeps the message, and drops the oldest if there are too many.
    ///
    /// # Errors
    /// The message, if the process `is_over`, as checked under the lock that
    /// [`close`](MailboxPolicy::close) takes.
    fn keep(
        &self,
        message: P::Message,
        is_over: impl FnOnce() -> bool,
    ) -> Result<Kept, P::Message> {
        let mut messages = lock(&self.messages);
        if is_over() {
            return Err(message);
        }
        let was_empty = messages.is_empty();
        messages.push_back(message);
        let dropped = match messages.len() > self.most {
            true => messages.pop_front(),
            false => None,
        };
        let kept = Kept {
            is_first: was_empty && !messages.is_empty(),
            has_dropped: dropped.is_some(),
        };
        drop(messages);
        drop_contained(dropped);
        Ok(kept)
    }

    /// Returns the most messages that are kept.
    pub(crate) fn most(&self) -> usize {
        self.most
    }
}

impl<P: Protocol> MailboxPolicy<P> for DropOldestMailbox<P> {
    fn send(&self, to: &Door<'_, P>, message: P::Message) -> Result<(), SendError<P>> {
        let kept = self.keep(message, || to.is_over());
        let kept = kept.map_err(|message| to.refused(Undelivered::NoSuchProcess, message))?;
        if kept.has_dropped {
            to.handle().count_dropped(1);
        }
        if kept.is_first {
            to.announce();
        }
        Ok(())
    }

    fn delivered(&self, _: &Door<'_, P>, _: usize) {}

    fn fetch(&self) -> VecDeque<P::Message> {
        mem::take(&mut lock(&self.messages))
    }

    fn close(&self, _: &Door<'_, P>) {
        let left = mem::take(&mut *lock(&self.messages));
        drop_all_contained(left);
    }

    fn undelivered(&self) -> usize {
        lock(&self.messages).len()
    }
}

#[cfg(test)]
mod tests;
