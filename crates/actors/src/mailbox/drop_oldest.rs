//! Mailboxes that keep the latest messages.
//!
//! Only the one consumer of a process's queue can take messages out, and a sender is not it. So
//! these messages lie apart, behind a lock, with an announcement in the queue while there are any;
//! the worker that comes to the announcement takes them all.
//!
//! A message whose sender waits lies in its place among them, and is none of the latest that are
//! kept: no other message replaces it, here or in an inbox. Its sender is told when a step is given
//! the message, or an async function reads it.

use std::collections::VecDeque;
use std::task::Poll;
use std::{iter, mem};

use filch_scheduler::{
    Door, Event, MailboxPolicy, Protocol, SendError, TellSender, Undelivered, Wait,
};
use filch_sync::panic::{catch_panic, drop_contained};
use filch_sync::{Mutex, lock};

/// The latest messages of one process, and those whose senders wait.
pub(crate) struct DropOldestMailbox<P: Protocol> {
    most: usize,
    state: Mutex<State<P>>,
}

struct State<P: Protocol> {
    /// The messages that no worker has taken.
    kept: VecDeque<P::Message>,
    /// The number of those whose senders do not wait.
    sent: usize,
    /// The senders of all messages that nobody has read: of those that a worker has taken, and of
    /// those that are kept.
    senders: VecDeque<Sender<P>>,
}

/// The sender of a message, if it waits.
pub(crate) type Sender<P> = Option<TellSender<P>>;

impl<P: Protocol> DropOldestMailbox<P> {
    pub(crate) fn new(most: usize) -> Self {
        let state = Mutex::new(State {
            kept: VecDeque::new(),
            sent: 0,
            senders: VecDeque::new(),
        });
        Self { most, state }
    }

    /// Takes the message; one that is not `patient` has the oldest dropped if there are too many.
    ///
    /// # Errors
    /// The message: the process is over, as checked under the lock that
    /// [`close`](MailboxPolicy::close) takes; or it is patient and does not wait, without room.
    fn keep(
        &self,
        to: &Door<'_, P>,
        message: P::Message,
        wait: Option<Wait<'_, P>>,
        patient: bool,
    ) -> Result<(), SendError<P>> {
        let (limit, waits) = (self.most, wait.is_some());
        let mut state = lock(&self.state);
        let reason = match to.is_over() {
            true => Some(Undelivered::NoSuchProcess),
            false if patient && !waits && state.sent >= limit => Some(Undelivered::Full { limit }),
            false => None,
        };
        if let Some(reason) = reason {
            return Err(to.refused(reason, message));
        }
        let was_empty = state.kept.is_empty();
        state.kept.push_back(message);
        state.senders.push_back(wait.map(|wait| wait()));
        state.sent += usize::from(!waits);
        let dropped = (state.sent > limit).then(|| state.drop_oldest());
        let is_first = was_empty && !state.kept.is_empty();
        drop(state);
        if dropped.is_some() {
            to.handle().count_dropped(1);
            drop_contained(dropped);
        }
        if is_first {
            to.announce();
        }
        Ok(())
    }

    /// Takes the sender of the oldest message, as it is read.
    pub(crate) fn read(&self) -> Sender<P> {
        lock(&self.state).senders.pop_front().flatten()
    }

    /// Takes the oldest messages out of the `unread` events, so that the latest are left, and those
    /// whose senders wait.
    pub(crate) fn take_oldest(&self, unread: &mut Events<P>) -> Option<Events<P>> {
        let senders = &mut lock(&self.state).senders;
        let messages = unread.iter().filter(|event| is_message(event)).count();
        let sent = senders.iter().take(messages).filter(|one| one.is_none());
        let mut too_many = sent
            .count()
            .checked_sub(self.most)
            .filter(|&many| many > 0)?;
        let mut at = 0;
        let (oldest, left) = mem::take(unread).into_iter().partition(|event| {
            let goes = too_many > 0 && is_message(event) && senders[at].is_none();
            if goes {
                too_many -= 1;
                senders.remove(at);
            } else {
                at += usize::from(is_message(event));
            }
            goes
        });
        *unread = left;
        Some(oldest)
    }
}

/// The events that a function has not read.
type Events<P> = VecDeque<Event<P>>;

impl<P: Protocol> State<P> {
    /// Takes out the oldest message whose sender does not wait.
    fn drop_oldest(&mut self) -> Option<P::Message> {
        self.sent -= 1;
        let taken = self.senders.len() - self.kept.len();
        let oldest = self.senders.iter().skip(taken).position(Option::is_none)?;
        self.senders.remove(taken + oldest);
        self.kept.remove(oldest)
    }
}

pub(crate) fn is_message<P: Protocol>(event: &Event<P>) -> bool {
    matches!(event, Event::Message(_))
}

/// Tells the sender, if it waits. What it tells is user code.
pub(crate) fn tell<P: Protocol>(sender: Sender<P>, sent: Result<(), SendError<P>>) {
    if let Some(tell) = sender {
        let _ = catch_panic(|| tell(sent));
    }
}

impl<P: Protocol> MailboxPolicy<P> for DropOldestMailbox<P> {
    fn send(&self, to: &Door<'_, P>, message: P::Message) -> Result<(), SendError<P>> {
        self.keep(to, message, None, false)
    }

    fn send_patiently(
        &self,
        to: &Door<'_, P>,
        message: P::Message,
        wait: Option<Wait<'_, P>>,
    ) -> Poll<Result<(), SendError<P>>> {
        let waits = wait.is_some();
        match self.keep(to, message, wait, true) {
            Ok(()) if waits => Poll::Pending,
            kept => Poll::Ready(kept),
        }
    }

    fn delivered(&self, messages: usize) {
        (0..messages).for_each(|_| tell(self.read(), Ok(())));
    }

    fn fetch(&self) -> VecDeque<P::Message> {
        let mut state = lock(&self.state);
        state.sent = 0;
        mem::take(&mut state.kept)
    }

    /// Gives the messages that no worker has taken back to the senders that wait.
    fn close(&self, to: &Door<'_, P>) {
        let mut state = lock(&self.state);
        let (kept, mut senders) = (mem::take(&mut state.kept), mem::take(&mut state.senders));
        drop(state);
        let taken = senders.len() - kept.len();
        senders.drain(..taken).for_each(|taken| tell(taken, Ok(())));
        for (message, sender) in iter::zip(kept, senders) {
            match sender {
                None => drop_contained(message),
                waits => tell(waits, Err(to.refused(Undelivered::NoSuchProcess, message))),
            }
        }
    }

    fn undelivered(&self) -> usize {
        lock(&self.state).kept.len()
    }
}
