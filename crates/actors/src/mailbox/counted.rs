//! Mailboxes with a limit, and messages beyond it whose senders wait.

use std::collections::VecDeque;
use std::task::Poll;
use std::{iter, mem};

use filch_scheduler::{Door, MailboxPolicy, Protocol, SendError, TellSender, Undelivered, Wait};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::panic::{catch_panic, drop_contained};
use filch_sync::{Mutex, MutexGuard, lock};

use crate::mailbox::sending::{MailboxFull, WhenFull};

/// A mailbox that counts its messages, and keeps those beyond the limit whose senders wait.
///
/// Such a message is counted with the others. An announcement in the process's queue holds its
/// place among them: nothing overtakes it. Its sender is told when the process is given it, or as
/// soon as it fits.
///
/// The count and the flag of the senders are one word. So a step that makes room and a sender that
/// begins to wait change the same word, one after the other: either the step finds the flag and
/// tells the sender, or the sender finds the room. The process's queue and the lock order the
/// messages themselves.
pub(crate) struct Counted<P: Protocol> {
    limit: usize,
    when_full: WhenFull,
    /// [`WAITS`], [`FAILED`], and [`ONE`] for each message that was not given to a step.
    word: AtomicUsize,
    blocked: Mutex<BlockedSends<P>>,
}

/// The messages beyond the limit, the oldest first.
struct BlockedSends<P: Protocol> {
    /// The messages that no worker has fetched.
    messages: VecDeque<P::Message>,
    /// The waiting senders: those of the newest messages, fetched or not.
    senders: VecDeque<TellSender<P>>,
}

/// A sender waits. Set and cleared under the lock.
const WAITS: usize = 1;
/// The process was told to end, because a message found no room.
const FAILED: usize = 2;
/// One message.
const ONE: usize = 4;

impl<P: Protocol> Counted<P> {
    pub(crate) fn new(limit: usize, when_full: WhenFull) -> Self {
        Self {
            limit: limit.min(usize::MAX / ONE / 2),
            when_full,
            word: AtomicUsize::new(0),
            blocked: Mutex::new(BlockedSends {
                messages: VecDeque::new(),
                senders: VecDeque::new(),
            }),
        }
    }

    /// Counts one more message, unless there is no room.
    fn reserve(&self) -> bool {
        let more = |word| (word / ONE < self.limit).then_some(word + ONE);
        // ORDERING: Relaxed, both: the count carries no data, the queue does. A loop and not an
        // addition: a sender that overshoots for a moment would make another one see a full
        // mailbox.
        let reserved = (self.word).fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        reserved.is_ok()
    }

    /// Counts a message beyond the limit, whose sender waits.
    fn exceed(&self, blocked: &mut BlockedSends<P>, message: P::Message, tell: TellSender<P>) {
        blocked.messages.push_back(message);
        blocked.senders.push_back(tell);
        // ORDERING: Relaxed, both: partners of the subtraction in `delivered`. See the type.
        self.word.fetch_or(WAITS, Ordering::Relaxed);
        self.word.fetch_add(ONE, Ordering::Relaxed);
    }

    /// Returns true the first time that a message without room must end the process.
    fn is_first_failure(&self) -> bool {
        // ORDERING: Relaxed: exactly one thread sets the bit; the end itself is ordered by what
        // that one sends.
        self.word.fetch_or(FAILED, Ordering::Relaxed) & FAILED == 0
    }

    /// Tells the senders whose messages a step was given, or now have room.
    fn tell<'a>(&'a self, mut blocked: MutexGuard<'a, BlockedSends<P>>) {
        loop {
            // ORDERING: Relaxed: what this does not see of a step that makes room, that step finds
            // the flag for. See the type.
            let count = self.word.load(Ordering::Relaxed) / ONE;
            if count >= self.limit + blocked.senders.len() {
                return;
            }
            let sender = blocked.senders.pop_front();
            if blocked.senders.is_empty() {
                // ORDERING: Relaxed: under the lock, as it was set.
                self.word.fetch_and(!WAITS, Ordering::Relaxed);
            }
            drop(blocked);
            let Some(tell) = sender else {
                return;
            };
            // What it tells is user code.
            let _ = catch_panic(|| tell(Ok(())));
            blocked = lock(&self.blocked);
        }
    }
}

impl<P: Protocol> MailboxPolicy<P> for Counted<P> {
    fn send(&self, to: &Door<'_, P>, message: P::Message) -> Result<(), SendError<P>> {
        if self.reserve() {
            return to.push(message);
        }
        // Of a process that has ended, nobody will ever empty the mailbox.
        if to.is_over() {
            return Err(to.refused(Undelivered::NoSuchProcess, message));
        }
        let limit = self.limit;
        match self.when_full {
            WhenFull::DropNewest => {
                to.handle().count_dropped(1);
                drop_contained(message);
                return Ok(());
            }
            WhenFull::End => {
                if self.is_first_failure() {
                    to.fail(Box::new(MailboxFull { limit }));
                }
            }
            WhenFull::Refuse | WhenFull::DropOldest => {}
        }
        Err(to.refused(Undelivered::Full { limit }, message))
    }

    fn send_patiently(
        &self,
        to: &Door<'_, P>,
        message: P::Message,
        wait: Option<Wait<'_, P>>,
    ) -> Poll<Result<(), SendError<P>>> {
        if self.reserve() {
            return Poll::Ready(to.push(message));
        }
        let (limit, mut blocked) = (self.limit, lock(&self.blocked));
        // Under the lock, which `close` takes when the process is over.
        let reason = match wait {
            _ if to.is_over() => Undelivered::NoSuchProcess,
            None => Undelivered::Full { limit },
            Some(wait) => {
                self.exceed(&mut blocked, message, wait());
                // Under the lock: announcements stand in the order of the messages.
                to.announce();
                self.tell(blocked);
                return Poll::Pending;
            }
        };
        drop(blocked);
        Poll::Ready(Err(to.refused(reason, message)))
    }

    fn delivered(&self, messages: usize) {
        // ORDERING: Relaxed: partner of the flag's setting in `exceed`. See the type.
        let before = self.word.fetch_sub(messages * ONE, Ordering::Relaxed);
        if before & WAITS != 0 {
            self.tell(lock(&self.blocked));
        }
    }

    fn fetch(&self) -> VecDeque<P::Message> {
        let fetched = lock(&self.blocked).messages.pop_front();
        fetched.into_iter().collect()
    }

    /// Gives the messages that no worker has fetched back to the senders that wait for them.
    fn close(&self, to: &Door<'_, P>) {
        let mut blocked = lock(&self.blocked);
        let mut messages = mem::take(&mut blocked.messages);
        let mut senders = mem::take(&mut blocked.senders);
        drop(blocked);
        let fetched = senders.len().saturating_sub(messages.len());
        for tell in senders.drain(..fetched) {
            let _ = catch_panic(|| tell(Ok(())));
        }
        let told = messages.len() - senders.len();
        messages.drain(..told).for_each(drop_contained);
        for (tell, message) in iter::zip(senders, messages) {
            let _ = catch_panic(|| tell(Err(to.refused(Undelivered::NoSuchProcess, message))));
        }
    }

    fn undelivered(&self) -> usize {
        // ORDERING: Relaxed: a figure for people.
        self.word.load(Ordering::Relaxed) / ONE
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests;
