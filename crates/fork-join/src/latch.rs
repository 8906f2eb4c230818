//! The word of a forked job: its kind, then who runs it, and at last that it is done.

use std::{mem, process};

use filch_sync::atomic::{AtomicU64, Ordering};

/// The job is done: its result is there.
const DONE: u64 = 1;
/// The job's owner sleeps until it is done.
const SLEEPS: u64 = 2;
/// The job's thief has begun, and has put down who it is in place of the held value.
const BEGUN: u64 = 4;
/// The first of 15 bits: the seat of the thief.
const THIEF: u32 = 3;
/// The first of 32 bits: where the thief's deque ended when it began.
const BASE: u32 = 32;

/// The highest number of seats, whose numbers have 15 bits.
pub(crate) const MAX_SEATS: usize = (1 << 15) - 1;

/// A job, or several, that a worker waits for, while it does something else or sleeps.
pub trait Awaited {
    /// Returns whether the wait is over. Then what was done happened before this.
    fn is_done(&self) -> bool;

    /// The thread that runs what is awaited, if that is one job and known.
    fn thief(&self) -> Option<Thief>;

    /// Announces that the worker in that seat is about to sleep, to be woken when it is done.
    /// Returns `false` if it is done. May be called more than once.
    fn sleep(&self, seat: usize) -> bool;
}

/// The word between the owner of a stolen job and its thief. Nobody looks at it before the job is
/// stolen: the deque decides that. Until its thief begins, it holds what that has to read first: a
/// fork, which is seldom stolen, then stores one word for both.
#[derive(Debug)]
pub struct Latch(AtomicU64);

/// The thread that runs a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thief {
    /// The thief's seat.
    pub seat: usize,
    /// The end of its deque when it began: all before is older than the job; all behind descends
    /// from that, or from what the thief runs while it waits, or from a later job, once it is done.
    pub base: u32,
}

impl Latch {
    /// Makes the latch of a job that nobody has stolen. `held` is a multiple of 8.
    #[inline(always)]
    pub fn holding(held: u64) -> Self {
        Self(AtomicU64::new(held))
    }

    /// Returns what it holds until the thief begins. For whoever has the job.
    pub(crate) fn held(&self) -> u64 {
        // ORDERING: Relaxed: it came with the job. The owner may add that it sleeps.
        self.0.load(Ordering::Relaxed) & !(DONE | SLEEPS | BEGUN)
    }

    /// Notes that the thief begins.
    pub fn begin(&self, thief: Thief) {
        let word = BEGUN | (thief.seat as u64) << THIEF | u64::from(thief.base) << BASE;
        // ORDERING: Release, for the Acquire in `thief`: the seat, in which the thief may sit since
        // a moment ago. An RMW, as the owner may have gone to sleep already.
        self.0.fetch_xor(self.held() ^ word, Ordering::Release);
    }

    /// Notes that the thief has left its result, and returns whether the owner sleeps. The job may
    /// be gone when this returns, and with it the latch.
    #[must_use = "an owner that sleeps is to be woken"]
    pub fn finish(&self) -> bool {
        // ORDERING: Release, for the Acquire in `is_done`: the result. No Acquire: who the owner is
        // came with the job.
        self.0.swap(DONE, Ordering::Release) & SLEEPS != 0
    }
}

impl Awaited for Latch {
    #[inline]
    fn is_done(&self) -> bool {
        // ORDERING: Acquire, for the Release in `finish`, also through an RMW in `sleep`.
        self.0.load(Ordering::Acquire) & DONE != 0
    }

    /// Returns the thief, if it has begun and is not done.
    fn thief(&self) -> Option<Thief> {
        // ORDERING: Acquire, for the Release in `begin`: the seat.
        let word = self.0.load(Ordering::Acquire);
        (word & BEGUN != 0).then_some(Thief {
            seat: (word >> THIEF) as usize & MAX_SEATS,
            base: (word >> BASE) as u32,
        })
    }

    /// Ignores the seat: the thief knows where the owner is.
    fn sleep(&self, _: usize) -> bool {
        // ORDERING: Relaxed: it says no more than this. `is_done` is asked before the result is
        // touched.
        self.0.fetch_or(SLEEPS, Ordering::Relaxed) & DONE == 0
    }
}

/// Calls `wait`, which returns when what lies in the caller's frame is done. If it does not keep to
/// that, or unwinds, the program ends: another thread would run a job in a frame that is gone.
#[inline(always)]
pub(crate) fn lend<R>(awaited: &impl Awaited, wait: impl FnOnce() -> R) -> R {
    struct Abort;

    impl Drop for Abort {
        #[cold]
        #[inline(never)]
        fn drop(&mut self) {
            eprintln!("a job was to be waited for, and was not: the program ends");
            process::abort();
        }
    }

    let abort = Abort;
    let result = wait();
    match awaited.is_done() {
        true => mem::forget(abort),
        false => drop(abort),
    }
    result
}
