use super::{TimerKey, Timers};

/// Cancels its timer when it is dropped; from [`Timers::guard`].
#[derive(Debug)]
#[must_use = "dropping it cancels the timer"]
pub struct TimerGuard {
    timers: Timers,
    key: TimerKey,
    armed: bool,
}

impl TimerGuard {
    pub(super) fn new(timers: Timers, key: TimerKey) -> Self {
        let armed = true;
        Self { timers, key, armed }
    }

    /// Leaves the timer to itself, and names it.
    pub fn disarm(mut self) -> TimerKey {
        self.armed = false;
        self.key
    }
}

impl Drop for TimerGuard {
    fn drop(&mut self) {
        if self.armed {
            self.timers.cancel(self.key);
        }
    }
}
