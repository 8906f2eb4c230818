//! What a process takes of messages: all, so many at a time, or none.

use filch_sync::atomic::{AtomicU32, Ordering};

/// What a process takes of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mailbox {
    /// As many as are sent.
    #[default]
    Unlimited,
    /// So many at most that no step has been given yet.
    Limited(usize),
    /// None: it is a future, which has no use for them.
    Closed,
}

/// Why there is no room for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailboxError {
    /// The limit, given here, is reached.
    Full(usize),
    /// The process takes no messages.
    Closed,
}

/// How many messages a process has been sent that no step has been given yet, and how many that may
/// be. Nothing is counted where there is no limit, or no mailbox.
#[derive(Debug)]
pub struct MailboxLimit {
    /// [`UNLIMITED`], [`CLOSED`], or the limit of the slot's occupant.
    limit: AtomicU32,
    undelivered: AtomicU32,
}

const UNLIMITED: u32 = u32::MAX;
const CLOSED: u32 = u32::MAX - 1;

impl MailboxLimit {
    pub(crate) fn new() -> Self {
        Self {
            limit: AtomicU32::new(UNLIMITED),
            undelivered: AtomicU32::new(0),
        }
    }

    /// For a new occupant, before `occupy` publishes it.
    #[inline]
    pub(crate) fn open(&self, mailbox: Mailbox) {
        let limit = match mailbox {
            Mailbox::Unlimited => UNLIMITED,
            Mailbox::Closed => CLOSED,
            // What the queue could not hold in memory is as good as the limit that was asked for.
            Mailbox::Limited(limit) => {
                u32::try_from(limit).map_or(CLOSED - 1, |limit| limit.min(CLOSED - 1))
            }
        };
        // ORDERING: Relaxed, both: `Occupancy::occupy` releases them to the threads that get a pin.
        self.limit.store(limit, Ordering::Relaxed);
        self.undelivered.store(0, Ordering::Relaxed);
    }

    /// The occupant takes messages from now on, if it took none. The caller has the process.
    pub(crate) fn unclose(&self) {
        // ORDERING: Relaxed, both: only the worker that has the process changes it. A sender that
        // does not see it yet is refused, as it was before; one that sees it pushes after this, so
        // the message is drained after this.
        if self.limit.load(Ordering::Relaxed) == CLOSED {
            self.limit.store(UNLIMITED, Ordering::Relaxed);
        }
    }

    /// Reserves room for one more message. The caller holds a pin. Lock-free.
    ///
    /// # Errors
    /// [`MailboxError`].
    pub fn reserve(&self) -> Result<(), MailboxError> {
        // ORDERING: Relaxed: while the caller holds its pin it does not change, except once from
        // `CLOSED` to `UNLIMITED`.
        let limit = self.limit.load(Ordering::Relaxed);
        if limit == UNLIMITED {
            return Ok(());
        }
        if limit == CLOSED {
            return Err(MailboxError::Closed);
        }
        // ORDERING: Relaxed, all: the count carries no data, the queue does. A loop and not an
        // addition: a sender that overshoots for a moment would make another one see a full
        // mailbox.
        let mut undelivered = self.undelivered.load(Ordering::Relaxed);
        while undelivered < limit {
            // ORDERING: Relaxed: see above.
            match self.undelivered.compare_exchange_weak(
                undelivered,
                undelivered + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(()),
                Err(now) => undelivered = now,
            }
        }
        Err(MailboxError::Full(limit as usize))
    }

    /// How many messages wait, if they are counted.
    pub fn undelivered(&self) -> Option<u32> {
        // ORDERING: Relaxed: a figure for people.
        let undelivered = self.undelivered.load(Ordering::Relaxed);
        self.counts().then_some(undelivered)
    }

    /// Whether messages are counted, by [`reserve`](Self::reserve) and
    /// [`deliver`](Self::deliver). For the worker that has the process.
    #[inline]
    pub fn counts(&self) -> bool {
        // ORDERING: Relaxed: as in `is_limited`.
        self.limit.load(Ordering::Relaxed) < CLOSED
    }

    /// Whether a message needs room. Without a pin a hint, which may be about another occupant.
    #[inline]
    pub fn is_limited(&self) -> bool {
        // ORDERING: Relaxed: a thread that has a pin, or got the PID from the submitter, sees what
        // was stored before `occupy`. An answer about another occupant does no harm: a sender that
        // is told "limited" pins, and the queue refuses items for another generation.
        self.limit.load(Ordering::Relaxed) != UNLIMITED
    }

    /// A step is about to get this many messages. Only if it [counts](Self::counts) them.
    pub fn deliver(&self, messages: u32) {
        // ORDERING: Relaxed: see `reserve`.
        self.undelivered.fetch_sub(messages, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{CLOSED, Mailbox, MailboxError, MailboxLimit};
    use filch_sync::atomic::Ordering;

    #[test]
    fn each_kind_of_mailbox() {
        let mailbox = MailboxLimit::new();
        mailbox.open(Mailbox::Limited(1));
        assert!(mailbox.is_limited() && mailbox.counts());
        assert_eq!(mailbox.reserve(), Ok(()));
        assert_eq!(mailbox.reserve(), Err(MailboxError::Full(1)));
        assert_eq!(mailbox.undelivered(), Some(1));
        mailbox.unclose();
        assert_eq!(mailbox.reserve(), Err(MailboxError::Full(1)), "as it was");
        mailbox.open(Mailbox::Closed);
        assert!(mailbox.is_limited() && !mailbox.counts());
        assert_eq!(mailbox.reserve(), Err(MailboxError::Closed));
        assert_eq!(mailbox.undelivered(), None);
        mailbox.unclose();
        assert!(!mailbox.is_limited() && !mailbox.counts());
        assert_eq!(mailbox.reserve(), Ok(()));
        // No limit is taken for one of the marks.
        for limit in [CLOSEST, usize::MAX] {
            mailbox.open(Mailbox::Limited(limit));
            assert!(mailbox.is_limited() && mailbox.counts());
            // ORDERING: Relaxed: one thread.
            assert_eq!(mailbox.limit.load(Ordering::Relaxed), CLOSED - 1);
        }
    }

    #[test]
    fn nothing_is_counted_where_there_is_no_limit() {
        let mailbox = MailboxLimit::new();
        mailbox.open(Mailbox::Unlimited);
        assert_eq!(mailbox.reserve(), Ok(()));
        // ORDERING: Relaxed: one thread.
        assert_eq!(mailbox.undelivered.load(Ordering::Relaxed), 0);
    }

    const CLOSEST: usize = u32::MAX as usize - 1;
}
