use filch_sync::hint;

/// How a push waits after it lost a claim: longer each time, up to a limit, and never for anybody.
///
/// The loser of a compare-exchange has just pulled the tail's cache line away from the winner. Left
/// alone, the winner claims several slots for the price of one transfer.
pub(crate) struct Backoff {
    pauses: u32,
}

impl Backoff {
    const FIRST: u32 = 32;
    /// The longest wait: 2.5 microseconds where a pause takes 10 nanoseconds.
    const LONGEST: u32 = 256;

    pub(crate) const fn new() -> Self {
        Self {
            pauses: Self::FIRST,
        }
    }

    pub(crate) fn pause(&mut self) {
        pause(self.pauses);
        self.pauses = Self::LONGEST.min(2 * self.pauses);
    }
}

/// For a receiver that has taken something while a producer was pushing the next. Called again at once, as a
/// receiver that polls is, it would take one event at a time, and the tail's line away each time.
pub(crate) fn let_producers_get_ahead() {
    pause(Backoff::LONGEST);
}

/// Busy for a moment, away from shared lines.
fn pause(times: u32) {
    for _ in 0..times {
        hint::spin_loop();
    }
}
