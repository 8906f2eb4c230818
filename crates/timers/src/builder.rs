//! The configuration of timers before they start.

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
    /// Configures timers on the system's clock.
    pub fn new() -> Self {
        Self {
            clock: Box::new(SystemClock),
            detach_here: || false,
        }
    }

    /// Sets the clock, if not the system's.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Sets where a [shutdown](Timers::shutdown) must not wait for the timers' thread: on threads
    /// on which `here` returns `true`. For a library that has threads too.
    ///
    /// A call of a timer may drop any value, and so come to wait for the threads of that library.
    /// If one of these waited for the timers' thread meanwhile, both would wait for ever.
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
