//! The clock, and the one timer of a scheduler on it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use filch_timers::{Sharing, TimerKey, Timers};

/// Tells the time since the scheduler began, and calls `ring` at the next deadline.
pub(crate) struct Alarm {
    timers: Timers,
    origin: Instant,
    ring: Arc<dyn Fn() + Send + Sync>,
    /// The timer that is set, and its time.
    set: Option<(Duration, TimerKey)>,
    /// The clock's time in this batch of events.
    now: Option<Duration>,
    /// The number of waits that share the timer with another one.
    pub(crate) sharing: Sharing,
}

impl Alarm {
    pub(crate) fn new(timers: Timers, ring: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self {
            origin: timers.now(),
            sharing: timers.sharing(),
            timers,
            ring,
            set: None,
            now: None,
        }
    }

    /// Returns the time. It reads the clock once a batch: all events of a batch were there when the
    /// first of them was applied, so no wait is cut short.
    pub(crate) fn now(&mut self) -> Duration {
        let read = || self.timers.now().saturating_duration_since(self.origin);
        *self.now.get_or_insert_with(read)
    }

    /// Ends the batch; `deadline` is the next one. A timer for an earlier time stays: it asks
    /// again.
    pub(crate) fn set(&mut self, deadline: Option<Duration>) {
        if let (Some(now), Some((due, _))) = (self.now.take(), self.set)
            && due <= now
        {
            // It has fired, or is about to: everything due by now has been done.
            self.set = None;
        }
        let Some(deadline) = deadline else {
            return;
        };
        if self.set.is_some_and(|(due, _)| due <= deadline) {
            return;
        }
        // A deadline that the clock cannot express never comes.
        let Some(due) = self.origin.checked_add(deadline) else {
            return;
        };
        self.cancel();
        let ring = Arc::clone(&self.ring);
        let key = self.timers.call_at(due, move || ring());
        self.set = key.ok().map(|key| (deadline, key));
    }

    /// Cancels the timer.
    pub(crate) fn cancel(&mut self) {
        if let Some((_, key)) = self.set.take() {
            self.timers.cancel(key);
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.cancel();
    }
}
