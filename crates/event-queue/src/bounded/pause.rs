use filch_sync::hint::spin_loop;

/// What a producer does after it lost a slot to another: it leaves the tail alone for a while, and
/// longer after each loss, up to a bound. The winner, and the consumer, have the cache line
/// meanwhile.
pub(crate) struct Pause {
    losses: u32,
}

impl Pause {
    /// At most `1 << LONGEST` spins.
    const LONGEST: u32 = 5;

    pub(crate) const fn new() -> Self {
        Self { losses: 0 }
    }

    pub(crate) fn after_loss(&mut self) {
        for _ in 0..1_u32 << self.losses {
            spin_loop();
        }
        self.losses = (self.losses + 1).min(Self::LONGEST);
    }
}
