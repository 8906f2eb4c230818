//! What a process takes of messages: all, so many at a time, or none.

use filch_sync::atomic::{AtomicU32, Ordering};

/// What a process takes of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mailbox {
    /// As many as are sent.
    #[default]
    Unlimited,
    /// So many at most that no step has been given yet.
    Limited(usize, Excess),
    /// They lie elsewhere, in the place with this number.
    Elsewhere(u32),
    /// None: it is a future, which has no use for them.
    Closed,
}

/// What becomes of a message that is one too many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Excess {
    /// It is handed back.
    #[default]
    Refuse,
    /// It is dropped.
    Drop,
    /// It is handed back, and the process ends.
    End,
}

/// Why a message has no room reserved for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailboxError {
    /// The limit, given here, is reached, and this is to be done.
    Full(usize, Excess),
    /// It is to be put in the place with this number.
    Elsewhere(u32),
    /// The process takes no messages.
    Closed,
}

/// How many messages a process has been sent that no step has been given yet, and how many that may
/// be. Nothing is counted where there is no limit, or no mailbox.
#[derive(Debug)]
pub struct MailboxLimit {
    /// [`UNLIMITED`], [`CLOSED`], or a number of the slot's occupant beside what it means: the
    /// limit, for each [`Excess`], or a place [elsewhere](ELSEWHERE).
    limit: AtomicU32,
    undelivered: AtomicU32,
}

const UNLIMITED: u32 = u32::MAX;
const CLOSED: u32 = u32::MAX - 1;

/// From here on, two bits say what the number below them means.
const MEANING: u32 = 30;
/// The bits of the number.
const NUMBER: u32 = (1 << MEANING) - 1;
/// The highest number: with one more, and that meaning, a place would be [`CLOSED`].
const MOST: u32 = NUMBER - 2;
const REFUSE: u32 = 0;
const DROP: u32 = 1 << MEANING;
const END: u32 = 2 << MEANING;
/// All below are limits.
const ELSEWHERE: u32 = 3 << MEANING;

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
            Mailbox::Limited(limit, excess) => {
                excess.bits() | u32::try_from(limit).map_or(MOST, |limit| limit.min(MOST))
            }
            Mailbox::Elsewhere(place) => ELSEWHERE | place,
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
        // ORDERING: Relaxed: while the caller holds its pin it does not change, except from
        // `CLOSED` to `UNLIMITED`, and as `overflow` says.
        let word = self.limit.load(Ordering::Relaxed);
        if word == UNLIMITED {
            return Ok(());
        }
        if word == CLOSED {
            return Err(MailboxError::Closed);
        }
        let limit = word & NUMBER;
        if word >= ELSEWHERE {
            return Err(MailboxError::Elsewhere(limit));
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
        Err(MailboxError::Full(limit as usize, Excess::of(word)))
    }

    /// Counts a message beyond the limit, whose sender waits until it is [admitted](Self::admits).
    /// The caller holds a pin, was told that the mailbox is full, and wakes the process when the
    /// message is in the queue.
    pub fn exceed(&self) {
        // ORDERING: Relaxed: as in `reserve`.
        self.undelivered.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether there are more messages than the limit: then senders wait. Only if it
    /// [counts](Self::counts) them.
    pub fn is_exceeded(&self) -> bool {
        // ORDERING: Relaxed, both: a worker that does not see this yet is woken behind it.
        let undelivered = self.undelivered.load(Ordering::Relaxed);
        undelivered > self.limit.load(Ordering::Relaxed) & NUMBER
    }

    /// The process is to end, as the mailbox is full: `true` for one of those who say so. From then
    /// on it refuses. The caller holds a pin, and was told [`Excess::End`].
    pub fn overflow(&self) -> bool {
        // ORDERING: Relaxed: exactly one thread takes the bit away; the end itself is ordered by
        // what that one sends.
        self.limit.fetch_and(!END, Ordering::Relaxed) & END != 0
    }

    /// Whether there is a number: a limit, or a place elsewhere. For a thread that holds a pin.
    #[inline]
    pub fn has_number(&self) -> bool {
        // ORDERING: Relaxed: as in `elsewhere`.
        self.limit.load(Ordering::Relaxed) < CLOSED
    }

    /// The place where the messages lie, if that is elsewhere. For a thread that holds a pin.
    pub fn elsewhere(&self) -> Option<u32> {
        // ORDERING: Relaxed: it does not change while the caller holds its pin.
        let word = self.limit.load(Ordering::Relaxed);
        (ELSEWHERE..CLOSED).contains(&word).then_some(word & NUMBER)
    }

    /// How many messages wait, if they are counted.
    pub fn undelivered(&self) -> Option<u32> {
        // ORDERING: Relaxed: a figure for people.
        let undelivered = self.undelivered.load(Ordering::Relaxed);
        self.counts().then_some(undelivered)
    }

    /// Whether messages are counted, by [`reserve`](Self::reserve) and
    /// [`deliver`](Self::deliver). Without a pin a hint, as [`is_limited`](Self::is_limited).
    #[inline]
    pub fn counts(&self) -> bool {
        // ORDERING: Relaxed: as in `is_limited`.
        self.limit.load(Ordering::Relaxed) < ELSEWHERE
    }

    /// Whether a message needs room. Without a pin a hint, which may be about another occupant.
    #[inline]
    pub fn is_limited(&self) -> bool {
        // ORDERING: Relaxed: a thread that has a pin, or got the PID from the submitter, sees what
        // was stored before `occupy`. An answer about another occupant does no harm: a sender that
        // is told "limited" pins, and the queue refuses items for another generation.
        self.limit.load(Ordering::Relaxed) != UNLIMITED
    }

    /// A step is about to get this many messages. Only if it [counts](Self::counts) them. Whether
    /// there were more than the limit: then a sender may wait.
    pub fn deliver(&self, messages: u32) -> bool {
        // ORDERING: Relaxed, both: see `reserve`. What `admits` did not see of this yet, a worker
        // sees that acquires the caller's wake-up.
        let before = self.undelivered.fetch_sub(messages, Ordering::Relaxed);
        before > self.limit.load(Ordering::Relaxed) & NUMBER
    }

    /// Whether the oldest of so many messages that [exceed](Self::exceed) the limit has been
    /// delivered, or has room by now; then its sender waits no more. For the worker that has the
    /// process, and has taken so many out of the queue: all that were there, or it will be woken.
    pub fn admits(&self, late: usize) -> bool {
        // ORDERING: Relaxed, both: see `deliver`.
        let limit = self.limit.load(Ordering::Relaxed) & NUMBER;
        let undelivered = self.undelivered.load(Ordering::Relaxed);
        (undelivered as usize) < limit as usize + late
    }
}

impl Excess {
    const fn bits(self) -> u32 {
        match self {
            Self::Refuse => REFUSE,
            Self::Drop => DROP,
            Self::End => END,
        }
    }

    /// Of a word with a limit.
    const fn of(word: u32) -> Self {
        match word & !NUMBER {
            DROP => Self::Drop,
            END => Self::End,
            _ => Self::Refuse,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Excess, MOST, Mailbox, MailboxError, MailboxLimit};
    use filch_sync::atomic::Ordering;

    const REFUSE: Excess = Excess::Refuse;

    #[test]
    fn each_kind_of_mailbox() {
        let mailbox = MailboxLimit::new();
        mailbox.open(Mailbox::Limited(1, REFUSE));
        assert!(mailbox.is_limited() && mailbox.counts());
        assert_eq!(mailbox.reserve(), Ok(()));
        assert_eq!(mailbox.reserve(), Err(MailboxError::Full(1, REFUSE)));
        assert_eq!(mailbox.undelivered(), Some(1));
        mailbox.unclose();
        let full = Err(MailboxError::Full(1, REFUSE));
        assert_eq!(mailbox.reserve(), full, "as it was");
        mailbox.open(Mailbox::Closed);
        assert!(mailbox.is_limited() && !mailbox.counts());
        assert_eq!(mailbox.elsewhere(), None);
        assert_eq!(mailbox.reserve(), Err(MailboxError::Closed));
        assert_eq!(mailbox.undelivered(), None);
        mailbox.unclose();
        assert!(!mailbox.is_limited() && !mailbox.counts());
        assert_eq!(mailbox.elsewhere(), None);
        assert_eq!(mailbox.reserve(), Ok(()));
        for place in [0, MOST] {
            mailbox.open(Mailbox::Elsewhere(place));
            assert!(mailbox.is_limited() && !mailbox.counts());
            assert_eq!(mailbox.reserve(), Err(MailboxError::Elsewhere(place)));
            assert_eq!(mailbox.elsewhere(), Some(place));
        }
    }

    /// The limit is the same for each of them, up to the highest that there is.
    #[test]
    fn each_thing_to_do_with_a_message_too_many() {
        let mailbox = MailboxLimit::new();
        for excess in [REFUSE, Excess::Drop, Excess::End] {
            mailbox.open(Mailbox::Limited(2, excess));
            assert_eq!(mailbox.elsewhere(), None);
            assert_eq!([mailbox.reserve(), mailbox.reserve()], [Ok(()); 2]);
            assert_eq!(mailbox.reserve(), Err(MailboxError::Full(2, excess)));
            for limit in [MOST as usize + 1, usize::MAX] {
                mailbox.open(Mailbox::Limited(limit, excess));
                assert!(mailbox.is_limited() && mailbox.counts());
                // ORDERING: Relaxed: one thread.
                mailbox.undelivered.store(MOST, Ordering::Relaxed);
                let full = MailboxError::Full(MOST as usize, excess);
                assert_eq!(mailbox.reserve(), Err(full));
            }
        }
    }

    #[test]
    fn one_sender_ends_the_process() {
        let mailbox = MailboxLimit::new();
        mailbox.open(Mailbox::Limited(0, Excess::End));
        assert!(mailbox.overflow());
        assert!(!mailbox.overflow());
        assert_eq!(mailbox.reserve(), Err(MailboxError::Full(0, REFUSE)));
    }

    #[test]
    fn what_exceeds_the_limit_is_counted_until_it_is_delivered() {
        let mailbox = MailboxLimit::new();
        mailbox.open(Mailbox::Limited(1, REFUSE));
        assert_eq!(mailbox.reserve(), Ok(()));
        mailbox.exceed();
        mailbox.exceed();
        assert_eq!(mailbox.undelivered(), Some(3));
        assert!(mailbox.is_exceeded() && !mailbox.admits(2));
        assert!(mailbox.deliver(1), "there were more than one");
        assert!(mailbox.admits(2) && !mailbox.admits(1));
        assert!(mailbox.is_exceeded() && mailbox.deliver(1));
        assert_eq!(mailbox.reserve(), Err(MailboxError::Full(1, REFUSE)));
        assert!(mailbox.admits(1) && !mailbox.is_exceeded());
        assert!(!mailbox.deliver(1));
        assert_eq!(mailbox.reserve(), Ok(()));
    }

    #[test]
    fn nothing_is_counted_where_there_is_no_limit() {
        let mailbox = MailboxLimit::new();
        mailbox.open(Mailbox::Unlimited);
        assert_eq!(mailbox.reserve(), Ok(()));
        // ORDERING: Relaxed: one thread.
        assert_eq!(mailbox.undelivered.load(Ordering::Relaxed), 0);
    }
}
