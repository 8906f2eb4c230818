//! The failures of children that a supervisor survives.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The failures of children that a supervisor survives: at most `restarts` within any `period`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Intensity {
    pub(crate) restarts: usize,
    pub(crate) period: Duration,
}

impl Default for Intensity {
    /// Once in five seconds, as in OTP.
    fn default() -> Self {
        Self {
            restarts: 1,
            period: Duration::from_secs(5),
        }
    }
}

/// The failures that still count: at most one more than are allowed.
#[derive(Debug, Default)]
pub(crate) struct Failures(VecDeque<Instant>);

impl Failures {
    /// Counts a failure at `now`. Returns whether it is one too many.
    pub(crate) fn is_one_too_many(&mut self, intensity: &Intensity, now: Instant) -> bool {
        let is_past = |then: &Instant| now.saturating_duration_since(*then) > intensity.period;
        while self.0.front().is_some_and(is_past) {
            self.0.pop_front();
        }
        self.0.push_back(now);
        self.0.len() > intensity.restarts
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Failures, Intensity};

    #[test]
    fn what_was_a_period_ago_still_counts() {
        let intensity = Intensity {
            restarts: 2,
            period: Duration::from_secs(5),
        };
        let start = Instant::now();
        let mut failures = Failures::default();
        let mut fails_at = |nanoseconds| {
            let now = start + Duration::from_nanos(nanoseconds);
            failures.is_one_too_many(&intensity, now)
        };
        assert!(!fails_at(0));
        assert!(!fails_at(3_000_000_000));
        assert!(!fails_at(5_000_000_001));
        assert!(fails_at(8_000_000_000));
    }

    #[test]
    fn none_is_allowed() {
        let intensity = Intensity {
            restarts: 0,
            period: Duration::ZERO,
        };
        assert!(Failures::default().is_one_too_many(&intensity, Instant::now()));
    }
}
