//! The pauses of a receiver that has caught up.

/// A receiver that has emptied the queue while a producer goes on pushing, and looks again at once,
/// finds one event: and with each look it takes a cache line away from the producer. If it pauses
/// first, the producer gets ahead, and one transfer of the line brings many events.
///
/// The best length depends on the producers, so it is measured: a pause that was followed by a long
/// enough *run* of events is doubled, otherwise halved. Pauses that shrink away, or after which no
/// event was there, are given up; the next one is tried after a number of runs, which doubles from
/// attempt to attempt.
///
/// So the pause is about as long as the producers take for a few dozen events, and where events
/// come one at a time there is next to none: an event that comes during a pause waits for its end.
#[derive(Debug)]
pub(super) struct AdaptiveDelay {
    /// Events taken since the receiver had caught up last. To wrap costs a pause more or less.
    pub(super) run: u32,
    /// The length of the next pause, in `pause` instructions; 0: none.
    pauses: u32,
    /// The runs until another attempt.
    skips: u32,
    /// The runs to skip after the next failure.
    gap: u32,
}

impl AdaptiveDelay {
    const SHORTEST: u32 = 16;
    /// 2.5 microseconds where a pause takes 10 nanoseconds.
    const LONGEST: u32 = 256;
    const LONGEST_GAP: u32 = 64;

    pub(super) const fn new() -> Self {
        Self {
            run: 0,
            pauses: 0,
            skips: 0,
            gap: 1,
        }
    }

    /// Notes that the receiver has caught up. Returns how long to pause before it looks again: at
    /// most as long as the events of the last run were worth `pauses_per_event` each.
    pub(super) fn caught_up(&mut self, pauses_per_event: u32) -> u32 {
        let run = core::mem::take(&mut self.run);
        if run == 0 {
            return 0;
        }
        if self.pauses > 0 {
            if run.saturating_mul(pauses_per_event) >= self.pauses {
                self.pauses = Self::LONGEST.min(2 * self.pauses);
                self.gap = 1;
            } else {
                self.pauses /= 2;
                if self.pauses < Self::SHORTEST {
                    self.in_vain();
                }
            }
        } else if self.skips > 0 {
            self.skips -= 1;
        } else {
            self.pauses = Self::SHORTEST;
            self.gap = Self::LONGEST_GAP.min(2 * self.gap);
        }
        self.pauses
    }

    /// Notes that no event came during the pause.
    pub(super) const fn in_vain(&mut self) {
        self.pauses = 0;
        self.skips = self.gap;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::AdaptiveDelay;

    /// The pauses after runs of that many events, where each event is worth four.
    fn after(delay: &mut AdaptiveDelay, runs: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let runs = runs.into_iter().map(|events| {
            delay.run += events;
            delay.caught_up(4)
        });
        runs.collect()
    }

    #[test]
    fn long_runs_make_long_pauses() {
        let mut delay = AdaptiveDelay::new();
        let pauses = after(&mut delay, [1, 4, 8, 16, 32, 64, 1000]);
        assert_eq!(pauses, [16, 32, 64, 128, 256, 256, 256]);
        assert_eq!(
            after(&mut delay, [63, 31, 1, 7]),
            [128, 64, 32, 16],
            "short ones short ones"
        );
        assert_eq!(after(&mut delay, [4]), [32]);
    }

    #[test]
    fn single_events_are_paused_for_less_and_less_often() {
        let mut delay = AdaptiveDelay::new();
        let pauses = after(&mut delay, [1; 300]);
        let attempts: Vec<_> = (0..300).filter(|&at| pauses[at] > 0).collect();
        assert!(pauses.iter().all(|pauses| [0, 16].contains(pauses)));
        let gaps: Vec<_> = attempts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps, [4, 6, 10, 18, 34, 66, 66, 66]);
    }

    #[test]
    fn a_pause_for_nothing_ends_the_pauses_for_a_while() {
        let mut delay = AdaptiveDelay::new();
        assert_eq!(after(&mut delay, [64; 3]), [16, 32, 64]);
        delay.in_vain();
        assert_eq!(after(&mut delay, [64; 3]), [0, 16, 32]);
    }

    #[test]
    fn a_receiver_that_took_nothing_does_not_pause() {
        let mut delay = AdaptiveDelay::new();
        assert_eq!(after(&mut delay, [64, 0, 0, 64]), [16, 0, 0, 32]);
    }
}
