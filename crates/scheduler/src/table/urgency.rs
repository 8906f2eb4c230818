//! What a worker has to know before it drains a process's queue.

use filch_sync::atomic::{AtomicU8, Ordering};

/// A byte of the slot that says whether the queue holds a signal that must not wait behind events,
/// or whether the process is to end at once.
#[derive(Debug)]
pub struct Urgency(AtomicU8);

/// The queue holds an urgent signal.
const SIGNAL: u8 = 1;
/// The process is to end. This bit stays set.
const END: u8 = 2;

/// What is urgent.
#[must_use = "the bit that announced signals has been cleared"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgent {
    /// Nothing is.
    Nothing,
    /// The queue holds a signal that must be found before the next step.
    Signal,
    /// The process is to end.
    End,
}

#[expect(
    clippy::new_without_default,
    reason = "one constructor is enough for a slot"
)]
impl Urgency {
    /// Nothing is urgent.
    pub fn new() -> Self {
        Self(AtomicU8::new(0))
    }

    /// For a new occupant, before [`Table::occupy`](crate::table::Table::occupy) publishes it.
    #[inline]
    pub fn reset(&self) {
        // ORDERING: Relaxed: `Occupancy::occupy` releases it to the threads that get a pin.
        self.0.store(0, Ordering::Relaxed);
    }

    /// The process is to end. The caller holds a pin, and wakes the process after this.
    pub fn end(&self) {
        // ORDERING: Relaxed: the RMWs on the state order it: a wake before a `start`, or before the
        // `submit`, is acquired by it; after a later one the process runs once more, and its worker
        // looks here again.
        self.0.fetch_or(END, Ordering::Relaxed);
    }

    /// An urgent signal was pushed. The caller holds a pin, and wakes the process after this.
    pub fn signal(&self) {
        // ORDERING: Release, partner of the Acquire in `take_signal`: the worker that clears this
        // bit finds the signal in the queue.
        self.0.fetch_or(SIGNAL, Ordering::Release);
    }

    /// What is urgent. Clears the bit of signals: the caller has the process, and drains the queue
    /// for them now. Wait-free.
    #[inline]
    pub fn take(&self) -> Urgent {
        // ORDERING: Relaxed: as in `end`. A bit that is set too late to be seen here is followed by
        // a wake-up, and that by a turn.
        match self.0.load(Ordering::Relaxed) {
            0 => Urgent::Nothing,
            word => self.take_signal(word),
        }
    }

    #[cold]
    fn take_signal(&self, word: u8) -> Urgent {
        if word & END != 0 {
            return Urgent::End;
        }
        // ORDERING: Acquire, partner of the Release in `signal`: the drain that follows finds what
        // was pushed. The wake-up may still be to come, and the turn after it would not look.
        self.0.fetch_and(!SIGNAL, Ordering::Acquire);
        Urgent::Signal
    }
}
