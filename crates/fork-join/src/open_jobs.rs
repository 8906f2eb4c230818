//! The count of a scope's jobs.

use filch_sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::latch::{Awaited, Thief};

/// The word's upper bits: if set, the worker in that seat sleeps until the jobs have ended. The low
/// half counts the jobs that have not ended, without those that the owner counts.
const SLEEPS: u64 = 1 << 63;
const SLEEPER: u32 = 32;
const COUNT: u64 = u32::MAX as u64;

/// The word's lead as long as the owner counts for itself: others may end more jobs than they have
/// opened.
const AHEAD: u64 = 1 << 31;

/// No seat.
const NOBODY: u32 = u32::MAX;

/// The number of a scope's jobs that have not ended, and the worker that sleeps until they have.
///
/// The sum of two numbers. Each thread changes the word, in one RMW; but the one that opened the
/// scope has a number for itself, which costs it none. When it goes to sleep it adds that to the
/// word, for good: then whoever ends the last job must see that it is the last one.
pub(crate) struct OpenJobs {
    word: AtomicU64,
    /// The owner's own, which may be negative.
    own: AtomicU64,
    /// The owner's seat, as long as it counts for itself.
    owner: AtomicU32,
}

impl OpenJobs {
    /// Counts one, the body. Its thread is the owner, if it has a seat.
    #[inline(always)]
    pub(crate) fn new(owner: Option<usize>) -> Self {
        let word = if owner.is_some() { AHEAD } else { 1 };
        Self {
            word: AtomicU64::new(word),
            own: AtomicU64::new(1_u64.wrapping_sub(word)),
            owner: AtomicU32::new(owner.map_or(NOBODY, |seat| seat as u32)),
        }
    }

    /// Returns the owner's seat, if it counts for itself.
    pub(crate) fn owner(&self) -> Option<usize> {
        // ORDERING: Relaxed: who finds itself there has written it, and goes by its own order.
        let owner = self.owner.load(Ordering::Relaxed);
        (owner != NOBODY).then_some(owner as usize)
    }

    /// Adds to what the owner counts for itself, if the thread in that seat is the owner, and does.
    fn count_own(&self, seat: Option<usize>, change: i64) -> bool {
        // ORDERING: Relaxed, both: the owner's thread alone reads and writes its number.
        if seat.is_none() || seat != self.owner() {
            return false;
        }
        let own = self.own.load(Ordering::Relaxed).wrapping_add_signed(change);
        assert!(own != AHEAD, "a scope has 2^31 jobs");
        self.own.store(own, Ordering::Relaxed);
        true
    }

    /// Counts a job more, by a job of the scope or its body. The calling thread sits in that seat,
    /// if in any.
    pub(crate) fn add(&self, seat: Option<usize>) {
        if self.count_own(seat, 1) {
            return;
        }
        // ORDERING: Relaxed: the caller's own job is open.
        let before = self.word.fetch_add(1, Ordering::Relaxed);
        assert!(before & COUNT != COUNT, "a scope has 2^31 jobs");
    }

    /// Ends a job on the thread in that seat. Returns the seat of the worker to be woken, if that
    /// was the last job and a worker sleeps. The scope may be gone when this returns.
    #[must_use = "a worker that sleeps is to be woken"]
    pub(crate) fn end_one(&self, seat: Option<usize>) -> Option<usize> {
        if self.count_own(seat, -1) {
            return None;
        }
        // ORDERING: Release, for the Acquire in `is_done`: what the job did. That of other jobs,
        // too: an exchange goes on with the release sequences of those before. The seat of the
        // worker that sleeps is known: the job descends from what that worker did in it.
        let before = self.word.fetch_sub(1, Ordering::Release);
        let was_last = before & COUNT == 1 && before & SLEEPS != 0;
        was_last.then_some(((before & !SLEEPS) >> SLEEPER) as usize)
    }

    /// Returns the number of jobs, if the word is that. Called by the thread that opened the scope.
    fn count(&self, word: u64) -> u64 {
        // ORDERING: Relaxed: this thread's own number.
        let own = self.own.load(Ordering::Relaxed);
        (word & COUNT).wrapping_add(own)
    }
}

impl Awaited for OpenJobs {
    #[inline]
    fn is_done(&self) -> bool {
        // ORDERING: Acquire, for the Release in `end_one`.
        self.count(self.word.load(Ordering::Acquire)) == 0
    }

    fn thief(&self) -> Option<Thief> {
        None
    }

    fn sleep(&self, seat: usize) -> bool {
        // ORDERING: Relaxed: the seat says all. On failure, too: `is_done` is asked.
        let announced = self
            .word
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                let count = self.count(word);
                (count != 0).then_some(count | SLEEPS | (seat as u64) << SLEEPER)
            });
        if announced.is_err() {
            return false;
        }
        // ORDERING: Relaxed, both: by the owner, for itself.
        self.own.store(0, Ordering::Relaxed);
        self.owner.store(NOBODY, Ordering::Relaxed);
        true
    }
}
