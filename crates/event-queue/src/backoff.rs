use core::mem;

use filch_sync::hint;

/// How a push waits after it lost a claim: never for anybody.
///
/// The loser of a compare-exchange has just pulled the tail's cache line away from the winner. Left
/// alone, the winner claims several slots for the price of one transfer.
///
/// After a wait the loser's word is old: it wins with it only if nobody has claimed meanwhile. The
/// first wait finds out whether that was all, and is short. Later ones are long, and end with two
/// tries, the second with the word that the first has brought: else a producer that is fast enough
/// is never interrupted.
pub(crate) struct Backoff {
    pauses: u32,
    /// The next loss is that of a first try after a long wait.
    once_more: bool,
}

impl Backoff {
    const SHORT: u32 = 32;
    /// 10 microseconds where a pause takes 10 nanoseconds.
    const LONG: u32 = 1024;

    pub(crate) const fn new() -> Self {
        Self {
            pauses: Self::SHORT,
            once_more: false,
        }
    }

    /// Waits, after a try that was lost; or does not, where another try is to follow at once.
    pub(crate) fn lost(&mut self) {
        if mem::take(&mut self.once_more) {
            return;
        }
        self.once_more = self.pauses == Self::LONG;
        pause(self.pauses);
        self.pauses = Self::LONG;
    }
}

/// For a receiver that has taken something while a producer was pushing the next. Called again at
/// once, as a receiver that polls is, it would take one event at a time, and the tail's line away
/// each time.
pub(crate) fn let_producers_get_ahead() {
    pause(256);
}

/// Busy for a moment, away from shared lines.
fn pause(times: u32) {
    for _ in 0..times {
        hint::spin_loop();
    }
}
