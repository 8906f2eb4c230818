//! What timers may be told before they start.

use std::{fmt, io};

use crate::clock::{Clock, SystemClock};
use crate::service::Service;
use crate::timers::Timers;

/// Configures [`Timers`].
///
/// ```
/// use filch_timers::{Builder, FakeClock};
///
/// let timers = Builder::new().clock(FakeClock::new()).build()?;
/// assert_eq!(timers.pending(), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "it makes timers with `build`"]
pub struct Builder {
    clock: Box<dyn Clock>,
    detach_here: fn() -> bool,
}

impl Builder {
    /// Timers on the system's clock.
    pub fn new() -> Self {
        Self {
            clock: Box::new(SystemClock),
            detach_here: || false,
        }
    }

    /// The clock, if not the system's.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// For a library that has threads too: a [shutdown](Timers::shutdown) does not wait for the
    /// timers' thread where `here` says `true`.
    ///
    /// What a timer fires may drop whatever it owns, and so come to wait for the threads of that
    /// library. If one of these were waiting for the timers' thread meanwhile, both would wait for
    /// ever.
    pub fn detach_if(mut self, here: fn() -> bool) -> Self {
        self.detach_here = here;
        self
    }

    /// Makes the timers, and their thread if the clock moves by itself.
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub fn build(self) -> io::Result<Timers> {
        let service = Service::start(self.clock, self.detach_here)?;
        Ok(Timers::from_service(service))
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").finish_non_exhaustive()
    }
}
