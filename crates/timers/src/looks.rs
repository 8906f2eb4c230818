//! When the thread that fires timers has to be woken.

use std::time::Instant;

/// When the thread looks at what is pending, if nobody wakes it.
///
/// That may be earlier than it need, after a timer was cancelled. So a limit that is set and
/// cancelled again and again, as that of a call is, wakes nobody.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Looks {
    /// Before it sleeps; or there is no such thread.
    #[default]
    Soon,
    At(Instant),
    /// It sleeps, and nothing was pending.
    Never,
}

impl Looks {
    /// Whether the thread is to be woken for a timer with that deadline. Then it knows.
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
    }
}
