//! Where timers get the time from, and how a clock that is moved by hand fires them.

use std::fmt;
use std::sync::Weak;
use std::time::Instant;

/// Where [`Timers`](crate::Timers) get the time from.
///
/// Its methods must not call the timers.
pub trait Clock: Send + Sync + 'static {
    /// What time it is; never earlier than it said before.
    fn now(&self) -> Instant;

    /// Called once, when timers are built on this clock: says what moves it.
    fn attach(&self, alarm: Alarm) -> Ticks;

    /// Called after a timer has been registered, on the thread that did it, and under no lock: for
    /// a clock whose mover waits for that, as [`FakeClock::block_until`](crate::FakeClock) does.
    /// Without that, nothing is to be done.
    fn registered(&self) {}
}

/// What moves a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticks {
    /// It moves by itself, in step with [`Instant::now`]. The timers sleep on a thread that they
    /// make, which fires them.
    ByItself,
    /// Somebody moves it, and then [rings](Alarm::ring) the alarm: timers fire on that thread.
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

/// What a clock that is moved by hand rings. It does not keep the timers alive.
#[derive(Clone)]
pub struct Alarm {
    timers: Weak<dyn Ring>,
}

/// The timers, as a clock sees them.
pub(crate) trait Ring: Send + Sync {
    /// See [`Alarm::ring`].
    fn ring(&self);
    /// See [`Alarm::next`].
    fn next(&self) -> Option<Instant>;
    /// See [`Alarm::pending`].
    fn pending(&self) -> usize;
}

impl Alarm {
    pub(crate) fn new(timers: Weak<dyn Ring>) -> Self {
        Self { timers }
    }

    /// Fires all timers that are due now, here, in order. Blocking, for as long as these take.
    ///
    /// A panic of what fires is contained.
    pub fn ring(&self) {
        if let Some(timers) = self.timers.upgrade() {
            timers.ring();
        }
    }

    /// When the first timer is due.
    pub fn next(&self) -> Option<Instant> {
        self.timers.upgrade()?.next()
    }

    /// How many timers are pending.
    pub fn pending(&self) -> usize {
        self.timers.upgrade().map_or(0, |timers| timers.pending())
    }
}

impl fmt::Debug for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarm").finish_non_exhaustive()
    }
}
