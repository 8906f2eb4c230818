//! The limit on the messages that a process has been sent and not been given.

use filch_sync::atomic::{AtomicU32, Ordering};

/// How many messages a process has been sent that no step has been given yet, and how many that may
/// be. Nothing is counted where there is no limit.
#[derive(Debug)]
pub struct MailboxLimit {
    /// [`UNLIMITED`], or the limit of the slot's occupant.
    limit: AtomicU32,
    undelivered: AtomicU32,
}

const UNLIMITED: u32 = u32::MAX;

impl MailboxLimit {
    pub(crate) fn new() -> Self {
        Self {
            limit: AtomicU32::new(UNLIMITED),
            undelivered: AtomicU32::new(0),
        }
    }

    /// For a new occupant, before `occupy` publishes it.
    pub(crate) fn open(&self, limit: Option<usize>) {
        let limit = limit.map_or(UNLIMITED, |limit| {
            // What the queue could not hold in memory is as good as the limit that was asked for.
            u32::try_from(limit).map_or(UNLIMITED - 1, |limit| limit.min(UNLIMITED - 1))
        });
        // ORDERING: Relaxed, both: `Occupancy::occupy` releases them to the threads that get a pin.
        self.limit.store(limit, Ordering::Relaxed);
        self.undelivered.store(0, Ordering::Relaxed);
    }

    /// Reserves room for one more message. The caller holds a pin. Lock-free.
    ///
    /// # Errors
    /// The limit, if it is reached.
    pub fn reserve(&self) -> Result<(), usize> {
        // ORDERING: Relaxed: it does not change while the caller holds its pin.
        let limit = self.limit.load(Ordering::Relaxed);
        if limit == UNLIMITED {
            return Ok(());
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
        Err(limit as usize)
    }

    /// How many messages wait, if they are counted.
    pub fn undelivered(&self) -> Option<u32> {
        // ORDERING: Relaxed: a figure for people.
        let undelivered = self.undelivered.load(Ordering::Relaxed);
        self.is_limited().then_some(undelivered)
    }

    /// Whether there is a limit. Without a pin a hint, which may be about another occupant.
    #[inline]
    pub fn is_limited(&self) -> bool {
        // ORDERING: Relaxed: a thread that has a pin, or got the PID from the submitter, sees what
        // was stored before `occupy`. An answer about another occupant does no harm: a sender that
        // is told "limited" pins, and the queue refuses items for another generation.
        self.limit.load(Ordering::Relaxed) != UNLIMITED
    }

    /// A step is about to get this many messages. Only if it [is limited](Self::is_limited).
    pub fn deliver(&self, messages: u32) {
        // ORDERING: Relaxed: see `reserve`.
        self.undelivered.fetch_sub(messages, Ordering::Relaxed);
    }
}
