//! Word of what must not stand behind the events in a process's queue.

use filch_sync::atomic::{AtomicU8, Ordering};

/// What a worker asks before it drains the queue: a byte of the slot.
#[derive(Debug)]
pub struct Urgency(AtomicU8);

/// A signal in the queue may end the process, or replace it.
const SIGNAL: u8 = 1;
/// The process shall end. It stays so.
const END: u8 = 2;

/// What is urgent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgent {
    /// Nothing is.
    Nothing,
    /// To look through the queue for signals.
    Signal,
    /// To end the process.
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

    /// For a new occupant. The caller is the submitter, before `occupy`.
    pub fn reset(&self) {
        // ORDERING: Relaxed: `occupy` releases it to whoever gets a pin.
        self.0.store(0, Ordering::Relaxed);
    }

    /// The process shall end. The caller holds a pin, and wakes the process after this.
    pub fn end(&self) {
        // ORDERING: Relaxed: the RMWs on the state order it: a wake before a `start`, or before the
        // `submit`, is acquired by it; after a later one the process runs once more, and its worker
        // looks here again.
        self.0.fetch_or(END, Ordering::Relaxed);
    }

    /// A signal was pushed. The caller holds a pin, and wakes the process after this.
    pub fn signal(&self) {
        // ORDERING: Release, partner of the Acquire in `take`: whoever takes this word back finds
        // the signal in the queue.
        self.0.fetch_or(SIGNAL, Ordering::Release);
    }

    /// What is urgent, and takes word of signals back: the caller has the process, and looks for
    /// them now.
    #[inline]
    pub fn take(&self) -> Urgent {
        // ORDERING: Relaxed: as in `end`. Word that comes too late to be seen here is followed by a
        // wake, and that by a turn.
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
        // was pushed, also where the wake-up is still to come: the turn after that one would not
        // look for it any more.
        self.0.fetch_and(!SIGNAL, Ordering::Acquire);
        Urgent::Signal
    }
}
