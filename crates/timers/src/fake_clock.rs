//! A clock that tests move.

use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use filch_sync::{Condvar, Mutex, MutexGuard, lock};

use crate::clock::{Alarm, Clock, Ticks};

/// A clock that stands still until it is [advanced](Self::advance), for tests. Clones are the same
/// clock, and any number of [`Timers`](crate::Timers) may be built on it.
///
/// A test waits until the code under test has come to [wait for the clock](Self::block_until), and
/// then moves it: no test sleeps, and none depends on how fast its machine is.
///
/// ```
/// use std::time::Duration;
/// use filch_timers::{FakeClock, Timers};
///
/// let clock = FakeClock::new();
/// let timers = Timers::with_clock(clock.clone())?;
/// let (give, take) = std::sync::mpsc::channel();
/// std::thread::spawn(move || {
///     let call = move || give.send("an hour").unwrap();
///     let _timer = timers.call_after(Duration::from_secs(3600), call);
///     std::thread::park(); // keeps the timers
/// });
/// clock.block_until(1);
/// clock.advance(Duration::from_secs(3599));
/// assert!(take.try_recv().is_err());
/// clock.advance(Duration::from_secs(1));
/// assert_eq!(take.try_recv()?, "an hour");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[doc(alias = "start_paused")]
pub struct FakeClock {
    shared: Arc<Shared>,
}

struct Shared {
    start: Instant,
    face: Mutex<Face>,
    /// Notified when a timer has been registered.
    registered: Condvar,
    /// Held by the thread that moves the clock: one move at a time.
    moving: Mutex<()>,
}

struct Face {
    elapsed: Duration,
    alarms: Vec<Alarm>,
    /// The number of timers ever registered.
    registrations: u64,
}

impl FakeClock {
    /// Makes a clock that nobody has moved yet.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared {
                start: Instant::now(),
                face: Mutex::new(Face {
                    elapsed: Duration::ZERO,
                    alarms: Vec::new(),
                    registrations: 0,
                }),
                registered: Condvar::new(),
                moving: Mutex::new(()),
            }),
        }
    }

    /// Returns how far the clock has been moved in all.
    pub fn elapsed(&self) -> Duration {
        self.face().elapsed
    }

    /// Moves the clock on, and fires on the calling thread all timers that are due by then: earlier
    /// deadlines first, those of one deadline in the order of registration, each with the clock at
    /// its deadline.
    ///
    /// Blocks while another thread advances it. A timer's call must not call this: it would wait
    /// for itself.
    ///
    /// # Panics
    /// If the clock exceeds the range of [`Duration`] or [`Instant`].
    pub fn advance(&self, by: Duration) {
        let _moving = lock(&self.shared.moving);
        let target = self.elapsed() + by;
        let _expressible = self.shared.start + target;
        loop {
            match self.next() {
                Some(due) if due <= target => {
                    self.show(due);
                    self.alarms().iter().for_each(Alarm::ring);
                }
                // A timer set from here on sees the new time; the next look finds one set just
                // before.
                _ if self.elapsed() < target => self.show(target),
                _ => return,
            }
        }
    }

    /// Waits until at least `count` timers are pending, of all [`Timers`](crate::Timers) on this
    /// clock together; waits that [share one](crate::Sharing) count each. Everything that their
    /// threads did before they set them happens before this returns.
    ///
    /// Blocks for ever if no thread sets them.
    pub fn block_until(&self, count: usize) {
        loop {
            // Before the look: a timer that is set after it changes this.
            let seen = self.face().registrations;
            let pending: usize = self.alarms().iter().map(Alarm::waits).sum();
            if pending >= count {
                return;
            }
            let mut face = self.face();
            while face.registrations == seen {
                let woken = self.shared.registered.wait(face);
                face = woken.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Returns the deadline of the first timer, by this clock.
    fn next(&self) -> Option<Duration> {
        let next = self.alarms().iter().filter_map(Alarm::next).min()?;
        Some(next.saturating_duration_since(self.shared.start))
    }

    /// Moves the clock, never back: a deadline may have passed before its timer was registered.
    fn show(&self, elapsed: Duration) {
        let mut face = self.face();
        face.elapsed = face.elapsed.max(elapsed);
    }

    /// Returns copies, for use without the lock: the timers read the clock.
    fn alarms(&self) -> Vec<Alarm> {
        self.face().alarms.clone()
    }

    fn face(&self) -> MutexGuard<'_, Face> {
        lock(&self.shared.face)
    }
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

    fn registered(&self) {
        self.face().registrations += 1;
        self.shared.registered.notify_all();
    }
}

impl fmt::Debug for FakeClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeClock")
            .field("elapsed", &self.elapsed())
            .finish_non_exhaustive()
    }
}
