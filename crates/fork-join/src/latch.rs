//! The word of a forked job: who runs it, who sleeps until it is done.

use filch_sync::atomic::{AtomicU64, Ordering};

/// The job is done: its result is there.
const DONE: u64 = 1;
/// Its owner sleeps until it is.
const SLEEPS: u64 = 2;
/// From here on, 15 bits: the seat of the thief, plus one.
const THIEF: u32 = 2;
/// From here on, 15 bits: the seat of the owner that sleeps.
const SLEEPER: u32 = 17;
/// From here on, 32 bits: where the thief's deque ended when it began.
const BASE: u32 = 32;

/// The highest number of seats, whose numbers have 15 bits and leave room for one more.
pub(crate) const MAX_SEATS: usize = (1 << 15) - 1;

/// What a worker waits for, while it does something else or sleeps.
pub trait Awaited {
    /// Whether there is nothing to wait for any more. Then what was done happened before this.
    fn is_done(&self) -> bool;

    /// The thread that runs what is awaited, if that is one job and known.
    fn thief(&self) -> Option<Thief>;

    /// The worker in that seat is about to sleep: it is to be woken when it is done. `false`: it is
    /// done. It may say so more than once.
    fn sleep(&self, seat: usize) -> bool;
}

/// What the owner of a stolen job and its thief tell each other. Nobody looks at it before the job
/// is stolen: the deque decides that.
#[derive(Debug, Default)]
pub struct Latch(AtomicU64);

/// The thread that runs a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thief {
    /// Where it sits.
    pub seat: usize,
    /// What is in its deque before this is older than the job. What is behind descends from it, or
    /// from what the thief runs while it waits in its turn, or, once it is done, from a later job.
    pub base: u32,
}

impl Latch {
    /// Of a job that nobody has stolen.
    #[inline(always)]
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The thief begins.
    pub fn begin(&self, thief: Thief) {
        let word = (thief.seat as u64 + 1) << THIEF | u64::from(thief.base) << BASE;
        // ORDERING: Release, for the Acquire in `thief`: the seat, in which the thief may sit since
        // a moment ago. An RMW, as the owner may have gone to sleep already.
        self.0.fetch_or(word, Ordering::Release);
    }

    /// The thief has left its result. The seat of the owner, if that sleeps. The job may be gone
    /// when this returns, and with it the latch.
    #[must_use = "an owner that sleeps is to be woken"]
    pub fn finish(&self) -> Option<usize> {
        // ORDERING: Release, for the Acquire in `is_done`: the result. Acquire, for the Release in
        // `sleep`: the owner's seat.
        let before = self.0.swap(DONE, Ordering::AcqRel);
        (before & SLEEPS != 0).then_some((before >> SLEEPER) as usize & MAX_SEATS)
    }
}

impl Awaited for Latch {
    #[inline]
    fn is_done(&self) -> bool {
        // ORDERING: Acquire, for the Release in `finish`.
        self.0.load(Ordering::Acquire) == DONE
    }

    /// If the thief has said so, and is not done.
    fn thief(&self) -> Option<Thief> {
        // ORDERING: Acquire, for the Release in `begin`: the seat.
        let word = self.0.load(Ordering::Acquire);
        let seat = (word >> THIEF) as usize & MAX_SEATS;
        Some(Thief {
            seat: seat.checked_sub(1)?,
            base: (word >> BASE) as u32,
        })
    }

    fn sleep(&self, seat: usize) -> bool {
        // ORDERING: Release, for the Acquire in `finish`. On failure Relaxed: `is_done` is asked
        // before the result is touched.
        let announced = self
            .0
            .fetch_update(Ordering::Release, Ordering::Relaxed, |word| {
                (word != DONE).then_some(word | SLEEPS | (seat as u64) << SLEEPER)
            });
        announced.is_ok()
    }
}
