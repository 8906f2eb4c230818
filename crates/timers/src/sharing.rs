//! Waits that share a timer.

use std::fmt;
use std::sync::Arc;

use crate::service::Service;

/// A number of waits that share a timer with another one, as that of the next deadline.
/// [`FakeClock::block_until`](crate::FakeClock::block_until) counts them as if each had a timer;
/// nothing else does. Dropping this sets it to zero.
pub struct Sharing {
    pub(crate) service: Arc<Service>,
    pub(crate) waits: usize,
}

impl Sharing {
    /// Sets the number. The timer should be set before, so that a test finds it when it has waited
    /// for these. Wait-free, on the system's clock.
    pub fn set(&mut self, waits: usize) {
        if waits != self.waits {
            self.service.share(waits.wrapping_sub(self.waits));
            self.waits = waits;
        }
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        self.set(0);
    }
}

impl fmt::Debug for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sharing")
            .field("waits", &self.waits)
            .finish_non_exhaustive()
    }
}
