//! The pause of a failed child before its next life.

use std::time::Duration;

/// The pause of a failed child before its next life: none by default.
///
/// The pause doubles with each failure in a row, up to a cap. A life as long as the cap ends the
/// row, however it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backoff {
    first: Duration,
    cap: Duration,
}

impl Backoff {
    /// No pause.
    pub const NONE: Self = Self {
        first: Duration::ZERO,
        cap: Duration::ZERO,
    };

    /// Pauses for `first` after the first failure, then twice as long after each that follows, but
    /// no longer than `cap`.
    pub const fn exponential(first: Duration, cap: Duration) -> Self {
        Self { first, cap }
    }

    /// Returns the pause after that many failures in a row.
    pub(crate) fn pause(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1);
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        self.first.saturating_mul(factor).min(self.cap)
    }

    /// Returns whether a failure after a life of that length would be the first of a row.
    pub(crate) fn begins_anew(&self, life: Duration) -> bool {
        life >= self.cap
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;

    #[test]
    fn it_doubles_up_to_the_cap() {
        let backoff = Backoff::exponential(Duration::from_millis(100), Duration::from_secs(1));
        let pauses = [1, 2, 3, 4, 5, 40, u32::MAX].map(|failures| backoff.pause(failures));
        let expected = [100, 200, 400, 800, 1000, 1000, 1000].map(Duration::from_millis);
        assert_eq!(pauses, expected);
        assert_eq!(Backoff::NONE.pause(7), Duration::ZERO);
        let longest = Backoff::exponential(Duration::MAX, Duration::MAX);
        assert_eq!(longest.pause(2), Duration::MAX);
    }
}
