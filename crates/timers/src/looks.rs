//! The times at which the thread that fires timers looks at them.

use std::time::Instant;

/// The time at which the thread looks at the pending timers, if no other thread wakes it.
///
/// That may be too early after a timer was cancelled. So a limit that is set and cancelled again
/// and again, like that of a call, wakes nobody.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Looks {
    /// Before its next sleep; or there is no such thread.
    #[default]
    Soon,
    At(Instant),
    /// Never: it sleeps, and nothing was pending.
    Never,
}

impl Looks {
    /// Returns whether to wake the thread for that deadline, and notes it if so.
    pub(super) fn wakes_for(&mut self, deadline: Instant) -> bool {
        let wakes = match *self {
            Self::Soon => false,
            Self::At(at) => deadline < at,
            Self::Never => true,
        };
        if wakes {
            *self = Self::At(deadline);
        }
        wakes
    }

    /// Returns whether the thread looks before that deadline, without anybody's help.
    pub(super) fn come_before(self, deadline: Instant) -> bool {
        matches!(self, Self::At(at) if at < deadline)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Looks;

    #[test]
    fn the_thread_is_woken_for_what_is_due_before_it_looks() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut looks = Looks::default();
        assert!(!looks.wakes_for(start), "it does not sleep yet");
        looks = Looks::Never;
        assert!(looks.wakes_for(after(2)));
        assert!(!looks.wakes_for(after(2)), "it knows");
        assert!(!looks.wakes_for(after(3)));
        assert!(looks.wakes_for(after(1)));
        assert_eq!(looks, Looks::At(after(1)));
        assert!(looks.come_before(after(2)));
        assert!(!looks.come_before(after(1)));
    }
}
