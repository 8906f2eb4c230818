//! Mailboxes with a limit, and a line of senders that wait for room.

use std::collections::VecDeque;

use filch_scheduler::{Door, MailboxPolicy, Protocol, SendError, TellSender, Undelivered};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::panic::{catch_panic, drop_contained};
use filch_sync::{Mutex, lock};

use crate::mailbox::when_full::{MailboxFull, WhenFull};

/// A mailbox that counts its messages, and has a line of senders that wait.
///
/// The count and the line's flag lie in one word. So a step that makes room and a sender that joins
/// the line change the same word, one after the other: either the step finds the flag and serves
/// the line, or the sender finds the room and does. The messages themselves are handed on by the
/// queue of the process, and by the lock of the line.
pub(crate) struct Counted<P: Protocol> {
    limit: usize,
    when_full: WhenFull,
    /// [`WAITS`], [`FAILED`], and [`ONE`] for each message that no step has been given.
    word: AtomicUsize,
    line: Mutex<VecDeque<Waiting<P>>>,
}

/// A message whose sender waits, and what tells it.
type Waiting<P> = (<P as Protocol>::Message, TellSender<P>);

/// Somebody is in the line. Set and cleared under its lock.
const WAITS: usize = 1;
/// The process was told to end, as one message was too many.
const FAILED: usize = 2;
/// One message.
const ONE: usize = 4;

impl<P: Protocol> Counted<P> {
    pub(crate) fn new(limit: usize, when_full: WhenFull) -> Self {
        Self {
            limit: limit.min(usize::MAX / ONE - 1),
            when_full,
            word: AtomicUsize::new(0),
            line: Mutex::new(VecDeque::new()),
        }
    }

    /// Counts one message more, unless `limit` is reached or a bit of `forbidden` is set.
    fn reserve(&self, limit: usize, forbidden: usize) -> bool {
        let more = |word| (word & forbidden == 0 && word / ONE < limit).then_some(word + ONE);
        // ORDERING: Relaxed, both: the count carries no data, the queue does. A loop and not an
        // addition: a sender that overshoots for a moment would make another one see a full
        // mailbox.
        let reserved = self
            .word
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        reserved.is_ok()
    }

    /// Room for a sender that does not wait: it does not overtake those that do.
    fn reserve_at_once(&self) -> bool {
        self.reserve(self.limit, WAITS)
    }

    /// Pushes what waits, as long as there is room. Where there is none at all, a message has some
    /// when no other is under way.
    #[cold]
    fn serve(&self, to: &Door<'_, P>) {
        let mut line = lock(&self.line);
        while !line.is_empty() && self.reserve(self.limit.max(1), 0) {
            let Some((message, tell)) = line.pop_front() else {
                return;
            };
            // Under the lock: the next in the line comes behind it.
            let sent = to.push(message);
            if line.is_empty() {
                // ORDERING: Relaxed: see the type. A sender that finds the flag gone comes behind
                // the last of the line, by the queue.
                self.word.fetch_and(!WAITS, Ordering::Relaxed);
            }
            drop(line);
            // What it tells is user code.
            let _ = catch_panic(|| tell(sent));
            line = lock(&self.line);
        }
    }
}

impl<P: Protocol> MailboxPolicy<P> for Counted<P> {
    fn send(&self, to: &Door<'_, P>, message: P::Message) -> Result<(), SendError<P>> {
        if self.reserve_at_once() {
            return to.push(message);
        }
        // Of a process that has ended, nobody will ever empty the mailbox.
        if to.is_over() {
            return Err(to.gone(message));
        }
        let limit = self.limit;
        match self.when_full {
            WhenFull::DropNewest => {
                to.handle().count_dropped(1);
                drop_contained(message);
                return Ok(());
            }
            WhenFull::End => {
                // ORDERING: Relaxed: exactly one thread sets the bit; the end itself is ordered by
                // what that one sends.
                if self.word.fetch_or(FAILED, Ordering::Relaxed) & FAILED == 0 {
                    to.fail(Box::new(MailboxFull { limit }));
                }
            }
            WhenFull::Refuse | WhenFull::DropOldest => {}
        }
        Err(to.refused(Undelivered::Full { limit }, message))
    }

    fn send_patiently(&self, to: &Door<'_, P>, message: P::Message, tell: TellSender<P>) {
        if self.reserve_at_once() {
            let sent = to.push(message);
            let _ = catch_panic(|| tell(sent));
            return;
        }
        let mut line = lock(&self.line);
        // Under the lock, which `close` takes when the process is over.
        if to.is_over() {
            drop(line);
            let _ = catch_panic(|| tell(Err(to.gone(message))));
            return;
        }
        line.push_back((message, tell));
        // ORDERING: Relaxed: partner of the subtraction in `delivered`. See the type.
        self.word.fetch_or(WAITS, Ordering::Relaxed);
        drop(line);
        self.serve(to);
    }

    fn delivered(&self, to: &Door<'_, P>, messages: usize) {
        // ORDERING: Relaxed: partner of the flag's setting in `send_patiently`. See the type.
        let before = self.word.fetch_sub(messages * ONE, Ordering::Relaxed);
        if before & WAITS != 0 {
            self.serve(to);
        }
    }

    fn close(&self, to: &Door<'_, P>) {
        let left = std::mem::take(&mut *lock(&self.line));
        for (message, tell) in left {
            let _ = catch_panic(|| tell(Err(to.gone(message))));
        }
    }

    fn undelivered(&self) -> usize {
        // ORDERING: Relaxed: a figure for people.
        self.word.load(Ordering::Relaxed) / ONE + lock(&self.line).len()
    }
}
