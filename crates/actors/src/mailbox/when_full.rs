//! Mailboxes with a limit, and what becomes of a message that is one too many.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use filch_scheduler::{Door, MailboxPolicy, Protocol, SendError, Submission, TellSender, Undelivered};
use filch_sync::atomic::{AtomicUsize, Ordering, fence};
use filch_sync::panic::{catch_panic, drop_contained};
use filch_sync::{Mutex, lock};

use crate::mailbox::latest::Latest;

/// What becomes of a message for which a [mailbox](Mailboxes::mailbox_with) has no room.
///
/// That is for whoever sends it by `send`. A process that would rather wait for room says
/// [`send_when_room`](crate::StepSending::send_when_room), whatever the mailbox says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// It comes back to the sender, with [`Undelivered::Full`].
    #[default]
    Refuse,
    /// It is dropped, and the sender is told that it was sent.
    DropNewest,
    /// It takes the place of the oldest one, which is dropped. These mailboxes have a lock: each
    /// sender takes it for some instructions, and so does a worker that takes the messages out: all
    /// at once, so a step may be given more than it should.
    DropOldest,
    /// It comes back as with `Refuse`, and the process ends with [`MailboxFull`].
    End,
}

/// It was sent one message more than its mailbox holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailboxFull {
    /// How many that is.
    pub limit: usize,
}

impl fmt::Display for MailboxFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit;
        write!(
            f,
            "mailbox full ({limit} messages); this process is configured to end on overflow"
        )
    }
}

impl Error for MailboxFull {}

/// Mailboxes with a limit, for processes that are about to be submitted.
pub trait Mailboxes: Sized {
    /// How many messages it may have been sent that no step has been given yet, and what becomes of
    /// one more.
    fn mailbox_with(self, messages: usize, when_full: WhenFull) -> Self;
}

impl<P: Protocol, S> Mailboxes for Submission<'_, P, S> {
    fn mailbox_with(self, messages: usize, when_full: WhenFull) -> Self {
        match when_full {
            WhenFull::DropOldest => self.mailbox_policy(Arc::new(Latest::<P>::new(messages))),
            _ => self.mailbox_policy(Arc::new(Counted::<P> {
                limit: messages,
                when_full,
                used: AtomicUsize::new(0),
                line: AtomicUsize::new(0),
                waiting: Mutex::new(VecDeque::new()),
            })),
        }
    }
}

/// A mailbox that counts its messages, and has a line of senders that wait.
struct Counted<P: Protocol> {
    limit: usize,
    when_full: WhenFull,
    /// Messages that no step has been given.
    used: AtomicUsize,
    /// How many wait.
    line: AtomicUsize,
    waiting: Mutex<VecDeque<(P::Message, TellSender<P>)>>,
}

impl<P: Protocol> Counted<P> {
    /// Room for one more.
    fn reserve(&self) -> bool {
        // ORDERING: Relaxed, all: the count carries no data, the queue does.
        let take = |used| (used < self.limit).then_some(used + 1);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
    }

    /// Pushes what waits, as long as there is room.
    #[cold]
    fn serve(&self, to: &Door<'_, P>) {
        let mut waiting = lock(&self.waiting);
        while !waiting.is_empty() && self.reserve() {
            let Some((message, tell)) = waiting.pop_front() else {
                return;
            };
            // ORDERING: Relaxed: under the lock.
            self.line.fetch_sub(1, Ordering::Relaxed);
            let sent = to.push(message);
            drop(waiting);
            // What it tells is user code.
            let _ = catch_panic(|| tell(sent));
            waiting = lock(&self.waiting);
        }
    }
}

impl<P: Protocol> MailboxPolicy<P> for Counted<P> {
    fn send(&self, to: &Door<'_, P>, message: P::Message) -> Result<(), SendError<P>> {
        // ORDERING: Relaxed: one that comes at the same time as a waiter may come before it.
        if self.line.load(Ordering::Relaxed) == 0 && self.reserve() {
            return to.push(message);
        }
        let limit = self.limit;
        match self.when_full {
            WhenFull::DropNewest => {
                to.handle().count_dropped(1);
                drop_contained(message);
                return Ok(());
            }
            WhenFull::End => to.fail(Box::new(MailboxFull { limit })),
            WhenFull::Refuse | WhenFull::DropOldest => {}
        }
        Err(to.refused(Undelivered::Full { limit }, message))
    }

    fn send_patiently(&self, to: &Door<'_, P>, message: P::Message, tell: TellSender<P>) {
        let mut waiting = lock(&self.waiting);
        if to.is_over() {
            drop(waiting);
            return tell(Err(to.gone(message)));
        }
        waiting.push_back((message, tell));
        // ORDERING: Relaxed: the fence orders it.
        self.line.fetch_add(1, Ordering::Relaxed);
        drop(waiting);
        // ORDERING: partner of the fence in `delivered`: this sees the room, or that sees the line.
        fence(Ordering::SeqCst);
        self.serve(to);
    }

    fn delivered(&self, to: &Door<'_, P>, messages: usize) {
        // ORDERING: Relaxed: see `reserve`.
        self.used.fetch_sub(messages, Ordering::Relaxed);
        // ORDERING: partner of the fence in `send_patiently`.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed: the fence orders it.
        if self.line.load(Ordering::Relaxed) > 0 {
            self.serve(to);
        }
    }

    fn close(&self, to: &Door<'_, P>) {
        let left = std::mem::take(&mut *lock(&self.waiting));
        for (message, tell) in left {
            let _ = catch_panic(|| tell(Err(to.gone(message))));
        }
    }

    fn undelivered(&self) -> usize {
        // ORDERING: Relaxed: a figure for people.
        self.used.load(Ordering::Relaxed) + self.line.load(Ordering::Relaxed)
    }
}
