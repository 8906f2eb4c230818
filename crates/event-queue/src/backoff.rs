use filch_sync::hint;

/// How a push waits after it lost a claim: longer each time, up to a limit, and never for anybody.
///
/// The loser of a compare-exchange has just pulled the tail's cache line away from the winner. Left
/// alone, the winner claims several slots for the price of one transfer.
pub(crate) struct Backoff {
    /// The next wait is 2 to this power pauses.
    step: u32,
}

impl Backoff {
    const LAST: u32 = 6;

    pub(crate) const fn new() -> Self {
        Self { step: 3 }
    }

    /// The longest wait.
    pub(crate) fn pause_long() {
        for _ in 0..1_u32 << Self::LAST {
            hint::spin_loop();
        }
    }

    pub(crate) fn pause(&mut self) {
        for _ in 0..1_u32 << self.step {
            hint::spin_loop();
        }
        self.step = Self::LAST.min(self.step + 1);
    }
}
