use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use filch_sync::{Mutex, MutexGuard};

use super::Alarm;

/// Where [`Timers`](super::Timers) get the time from.
pub trait Clock: Send + Sync + 'static {
    /// What time it is; never earlier than it said before. It must not call the timers.
    fn now(&self) -> Instant;

    /// Called once, when timers are built on this clock: says who moves it.
    fn attach(&self, alarm: Alarm) -> Ticks;
}

/// Who moves a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticks {
    /// It moves by itself, in step with [`Instant::now`]. The timers sleep on a thread of their
    /// own, which fires them.
    ByItself,
    /// Somebody moves it, and then [rings](Alarm::ring) the alarm: timers fire on that one's
    /// thread.
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

/// A clock that stands still until it is [advanced](Self::advance), for tests. Clones are the same
/// clock.
///
/// ```
/// use std::time::Duration;
/// use filch_scheduler::timers::{FakeClock, Timers};
///
/// let clock = FakeClock::new();
/// let timers = Timers::with_clock(clock.clone())?;
/// let (give, take) = std::sync::mpsc::channel();
/// timers.call_after(Duration::from_secs(3600), move || give.send("an hour").unwrap());
/// clock.advance(Duration::from_secs(3599));
/// assert!(take.try_recv().is_err());
/// clock.advance(Duration::from_secs(1));
/// assert_eq!(take.try_recv()?, "an hour");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FakeClock {
    shared: Arc<Fake>,
}

struct Fake {
    start: Instant,
    face: Mutex<Face>,
    /// Held by whoever moves the clock: one move after another.
    moving: Mutex<()>,
}

struct Face {
    elapsed: Duration,
    alarms: Vec<Alarm>,
}

impl FakeClock {
    /// A clock that nobody has moved yet.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Fake {
                start: Instant::now(),
                face: Mutex::new(Face {
                    elapsed: Duration::ZERO,
                    alarms: Vec::new(),
                }),
                moving: Mutex::new(()),
            }),
        }
    }

    /// How far it has been moved in all.
    pub fn elapsed(&self) -> Duration {
        self.face().elapsed
    }

    /// Moves the clock on. What is due by then has fired when this returns, on the calling thread:
    /// earlier deadlines first, those of one deadline in the order in which they were registered,
    /// each with the clock at its deadline.
    ///
    /// Blocking while another thread advances it. Not to be called by what a timer fires: that
    /// would wait for itself.
    ///
    /// # Panics
    /// If the clock passes what a [`Duration`] or an [`Instant`] can say.
    pub fn advance(&self, by: Duration) {
        let _moving = locked(&self.shared.moving);
        let target = self.elapsed() + by;
        let _expressible = self.shared.start + target;
        loop {
            match self.next() {
                Some(due) if due <= target => {
                    self.show(due);
                    let alarms = self.face().alarms.clone();
                    alarms.iter().for_each(Alarm::ring);
                }
                // Whoever sets a timer from here on sees the time; who did so just before is found
                // by another look.
                _ if self.elapsed() < target => self.show(target),
                _ => return,
            }
        }
    }

    /// When the first timer is due, as told by this clock.
    fn next(&self) -> Option<Duration> {
        let alarms = self.face().alarms.clone();
        let next = alarms.iter().filter_map(Alarm::next).min()?;
        Some(next.saturating_duration_since(self.shared.start))
    }

    /// Never back: a deadline may have passed before its timer was registered.
    fn show(&self, elapsed: Duration) {
        let mut face = self.face();
        face.elapsed = face.elapsed.max(elapsed);
    }

    fn face(&self) -> MutexGuard<'_, Face> {
        locked(&self.shared.face)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Instant {
        self.shared.start + self.elapsed()
    }

    fn attach(&self, alarm: Alarm) -> Ticks {
        self.face().alarms.push(alarm);
        Ticks::ByHand
    }
}

impl fmt::Debug for FakeClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeClock")
            .field("elapsed", &self.elapsed())
            .finish_non_exhaustive()
    }
}
