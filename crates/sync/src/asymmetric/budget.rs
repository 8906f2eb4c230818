//! Limits how many heavy fences the process passes.

use core::sync::atomic::{AtomicU64, Ordering};

/// The nanoseconds after which one more fence may be passed.
const INTERVAL: u64 = 1_100_000;

/// The most fences that can be saved up and then passed at once.
const BURST: u64 = 64;

/// Allows at most 974 fences in any second: those saved up, and those that it adds meanwhile.
pub(super) struct Budget {
    /// The time up to which every fence is spent.
    spent_until: AtomicU64,
}

impl Budget {
    pub(super) const fn new() -> Self {
        Self {
            spent_until: AtomicU64::new(0),
        }
    }

    /// Takes one fence at the time `now`, in nanoseconds; returns whether one was left.
    pub(super) fn take(&self, now: u64) -> bool {
        let take = |until: u64| {
            let until = until.max(now) + INTERVAL;
            (until - now <= BURST * INTERVAL).then_some(until)
        };
        // ORDERING: Relaxed, both: it counts, and orders nothing.
        self.spent_until
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{BURST, Budget, INTERVAL};

    #[test]
    fn no_second_has_more_than_a_thousand() {
        let budget = Budget::new();
        let second = 1_000_000_000;
        let mut passed = Vec::new();
        // Idle for a while, then called every microsecond.
        for now in (5 * second..8 * second).step_by(1_000) {
            if budget.take(now) {
                passed.push(now);
            }
        }
        for (first, &from) in passed.iter().enumerate() {
            let within = passed[first..].iter().filter(|&&at| at < from + second);
            assert!(within.count() <= 1_000);
        }
        assert!(passed.len() > 2_500, "they are earned again");
    }

    #[test]
    fn what_is_saved_can_be_passed_at_once() {
        let budget = Budget::new();
        let now = 1 << 40;
        assert_eq!(
            (0..1_000).filter(|_| budget.take(now)).count() as u64,
            BURST
        );
        assert!(!budget.take(now + INTERVAL - 1));
        assert!(budget.take(now + INTERVAL));
    }
}
