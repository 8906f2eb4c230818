//! A timer that ends with a scope.

use std::fmt;
use std::sync::Arc;

use crate::queue::TimerKey;
use crate::service::Service;

/// Cancels its timer when it is dropped; from [`Timers::guard`](crate::Timers::guard).
#[must_use = "dropping it cancels the timer"]
pub struct TimerGuard {
    service: Arc<Service>,
    key: TimerKey,
    armed: bool,
}

impl TimerGuard {
    pub(crate) fn new(service: Arc<Service>, key: TimerKey) -> Self {
        let armed = true;
        Self {
            service,
            key,
            armed,
        }
    }

    /// Lets the timer go on without the guard, and returns its key.
    pub fn disarm(mut self) -> TimerKey {
        self.armed = false;
        self.key
    }
}

impl Drop for TimerGuard {
    fn drop(&mut self) {
        if self.armed {
            self.service.cancel(self.key);
        }
    }
}

impl fmt::Debug for TimerGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimerGuard")
            .field("key", &self.key)
            .field("armed", &self.armed)
            .finish_non_exhaustive()
    }
}
