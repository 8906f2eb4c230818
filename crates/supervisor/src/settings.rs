//! The settings of a supervisor and its children: data, and conclusions from it.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use filch_scheduler::ExitReason;

use crate::plan::child::ChildId;

/// The ends after which a child is restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Restart {
    /// After each end.
    #[default]
    Permanent,
    /// After each end that is not [normal](ExitReason::is_normal).
    Transient,
    /// After none. A child that has ended is deleted.
    Temporary,
}

impl Restart {
    /// Returns whether a child that ended by itself, for this reason, is restarted.
    pub(crate) fn follows(self, reason: &ExitReason) -> bool {
        match self {
            Self::Permanent => true,
            Self::Transient => !reason.is_normal(),
            Self::Temporary => false,
        }
    }
}

/// The way in which a supervisor ends a child.
///
/// Asking sends it an `Event::Cancel`. Terminating is
/// [`Handle::terminate`](filch_scheduler::Handle::terminate), which ends it after its present step:
/// a step that never returns holds up its supervisor, whatever the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// Asks it, and terminates it if it has not ended after that long.
    After(Duration),
    /// Terminates it without asking.
    #[doc(alias = "brutal_kill")]
    AtOnce,
    /// Asks it, and waits as long as it takes. For supervisors: their children have limits of their
    /// own.
    Unlimited,
}

impl Default for Shutdown {
    /// Five seconds, by [`After`](Self::After).
    fn default() -> Self {
        Self::After(Duration::from_secs(5))
    }
}

/// The children that begin anew when one of them has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The failed one.
    #[doc(alias = "one_for_one")]
    OneForOne,
    /// All of them: each depends on each.
    #[doc(alias = "one_for_all")]
    OneForAll,
    /// The failed one and those started after it: each depends on those before it.
    #[doc(alias = "rest_for_one")]
    RestForOne,
    /// The failed one. For many children of one kind, which come and go: one that has ended without
    /// a restart is deleted, and at the end all are asked at once. (OTP: `simple_one_for_one`.)
    #[doc(alias = "simple_one_for_one")]
    #[doc(alias = "DynamicSupervisor")]
    Dynamic,
}

impl Strategy {
    /// Returns the children that begin anew after `failed`: a stretch of the order of start.
    pub(crate) fn group(self, failed: ChildId) -> RangeInclusive<ChildId> {
        match self {
            Self::OneForOne | Self::Dynamic => failed..=failed,
            Self::OneForAll => ChildId::FIRST..=ChildId::LAST,
            Self::RestForOne => failed..=ChildId::LAST,
        }
    }
}

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

    use super::{Backoff, Failures, Intensity, Strategy};
    use crate::plan::child::ChildId;

    #[test]
    fn each_group_is_a_stretch_of_the_order() {
        let ids: Vec<ChildId> = (0..4).map(ChildId).collect();
        let group = |strategy: Strategy| {
            let group = strategy.group(ids[2]);
            let members = ids.iter().filter(|id| group.contains(id));
            members.map(|id| id.0).collect::<Vec<_>>()
        };
        assert_eq!(group(Strategy::OneForOne), [2]);
        assert_eq!(group(Strategy::Dynamic), [2]);
        assert_eq!(group(Strategy::RestForOne), [2, 3]);
        assert_eq!(group(Strategy::OneForAll), [0, 1, 2, 3]);
    }

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
