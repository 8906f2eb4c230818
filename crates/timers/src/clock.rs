//! The source of the time, and the alarm by which a clock moved by hand fires timers.

use std::fmt;
use std::sync::Weak;
use std::time::Instant;

use crate::service::Shared;

/// The source of the time of [`Timers`](crate::Timers).
///
/// Its methods must not call the timers.
pub trait Clock: Send + Sync + 'static {
    /// Returns the time; never earlier than before.
    fn now(&self) -> Instant;

    /// Called once, when timers are built on this clock. Returns how the clock moves.
    fn attach(&self, alarm: Alarm) -> Ticks;

    /// Called after a timer was registered or shared, by that thread, under no lock: for a clock
    /// whose mover waits for that, as [`FakeClock::block_until`](crate::FakeClock) does. Other
    /// clocks need not implement it.
    fn registered(&self) {}
}

/// The mover of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticks {
    /// The clock moves by itself, in step with [`Instant::now`]. The timers start a thread, which
    /// sleeps and fires them.
    ByItself,
    /// Its user moves it, and then [rings](Alarm::ring) the alarm: timers fire on that thread.
    ByHand,
}

/// The system's monotonic clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn attach(&self, _: Alarm) -> Ticks {
        Ticks::ByItself
    }
}

/// The alarm that a clock moved by hand rings. It does not keep the timers alive.
#[derive(Clone)]
pub struct Alarm {
    timers: Weak<Shared>,
}

impl Alarm {
    pub(crate) fn new(timers: Weak<Shared>) -> Self {
        Self { timers }
    }

    /// Fires all due timers on this thread, in order. Blocks until their calls have returned.
    ///
    /// Contains panics of these calls.
    pub fn ring(&self) {
        if let Some(timers) = self.timers.upgrade() {
            timers.ring();
        }
    }

    /// Returns the deadline of the first timer.
    pub fn next(&self) -> Option<Instant> {
        self.timers.upgrade()?.next()
    }

    /// Returns the number of pending timers, and of the waits that [share
    /// one](crate::Sharing) with another.
    pub fn waits(&self) -> usize {
        self.timers.upgrade().map_or(0, |timers| timers.waits())
    }
}

impl fmt::Debug for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarm").finish_non_exhaustive()
    }
}
