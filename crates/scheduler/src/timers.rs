//! Time for processes: commands that complete later, deadlines, messages at intervals, and futures
//! that sleep.
//!
//! [`Timers`] is made before the scheduler and given to the command handler, which delegates to it:
//!
//! ```
//! use std::time::Duration;
//! use filch_scheduler::timers::{FakeClock, Timers};
//! use filch_scheduler::{Completion, Context, Event, Events, InitError, Process, Protocol, Scheduler, StepOutput};
//!
//! enum Naps {}
//! impl Protocol for Naps {
//!     type Input = ();
//!     type Message = ();
//!     type Command = Duration; // sleep that long
//!     type Reply = ();
//!     type Output = &'static str;
//!     type Error = String;
//! }
//!
//! struct Napper;
//! impl Process<Naps> for Napper {
//!     fn init(&mut self, _: &Context<'_, Naps>, _: &str, (): ()) -> Result<(), InitError<Naps>> {
//!         Ok(())
//!     }
//!     fn step(
//!         &mut self,
//!         _: &Context<'_, Naps>,
//!         mut events: Events<'_, Naps>,
//!         out: &mut StepOutput<Naps>,
//!     ) -> Result<(), String> {
//!         if let Some(Event::Completed { result, .. }) = events.next() {
//!             result.map_err(|error| error.to_string())?;
//!             out.done("rested");
//!         } else {
//!             out.yield_command(0, Duration::from_secs(3600));
//!             out.wait();
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let clock = FakeClock::new(); // in earnest: Timers::new()
//! let timers = Timers::with_clock(clock.clone())?;
//! let scheduler = Scheduler::builder()
//!     .workers(1)
//!     .handler({
//!         let timers = timers.clone();
//!         move |nap: Duration, completion: Completion<Naps>| {
//!             timers.complete_after(nap, completion, ());
//!         }
//!     })
//!     .build()?;
//! let napper = scheduler.submit(Napper, "", ())?;
//! timers.block_until(1); // the process has yielded its command
//! clock.advance(Duration::from_secs(3600));
//! assert_eq!(napper.join()?, "rested");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works, and what it costs
//!
//! One thread and one lock per [`Timers`]: an ordered set of deadlines, in which the thread sleeps
//! until the first one. Setting and cancelling take O(log n) and one or two allocations. That is
//! enough for the hundreds of thousands of timers a second that one lock carries, and simpler than
//! a timing wheel; who needs more makes one `Timers` per worker.
//!
//! A pending timer keeps what it was given: with a completion, that is the place of its process in
//! the table, even if that one ends before. Who does not want that cancels it.
//!
//! A timer fires on that one thread (or on the one that [advances](FakeClock::advance) a fake
//! clock): what it calls must be short. Completing a command, sending a message and waking a future
//! are.
//!
//! A timer is over in exactly one of three ways: it fired, it was [cancelled](Timers::cancel), or
//! the timers were [shut down](Timers::shutdown). In the last two cases its completion is dropped,
//! so that the process hears [`CommandError::Abandoned`](crate::CommandError::Abandoned).

mod bounded;
mod clock;
mod guard;
mod queue;
mod service;
mod sleep;

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};

pub use bounded::Bounded;
pub use clock::{Clock, FakeClock, SystemClock, Ticks};
pub use guard::TimerGuard;
pub use service::Alarm;
pub use sleep::{Sleep, TimersClosed};

use crate::contain::dispose;
use crate::{Completion, Handle, Pid, Protocol, Undelivered};
use queue::Action;
use service::Service;

/// Sets timers. Clones share the timers and their thread; when the last one is dropped, that is a
/// [`shutdown`](Self::shutdown).
#[derive(Clone)]
pub struct Timers {
    service: Arc<Service>,
}

/// Names one timer, to [cancel](Timers::cancel) it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimerKey(u64);

impl Timers {
    /// Timers on the system's clock, with their thread.
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub fn new() -> io::Result<Self> {
        Self::with_clock(SystemClock)
    }

    /// Timers on another clock; a thread of their own if that one ticks
    /// [by itself](Ticks::ByItself).
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub fn with_clock(clock: impl Clock) -> io::Result<Self> {
        Ok(Self {
            service: Arc::new(Service::start(Box::new(clock))?),
        })
    }

    /// What time it is.
    pub fn now(&self) -> Instant {
        self.service.now()
    }

    /// How many timers are pending.
    pub fn pending(&self) -> usize {
        self.service.lock().len()
    }

    /// Completes the command with `reply` when the `deadline` has come. If it has passed: at once,
    /// on the thread that fires timers; on a clock that is moved by hand, when that happens next.
    pub fn complete_at<P: Protocol>(
        &self,
        deadline: Instant,
        completion: Completion<P>,
        reply: P::Reply,
    ) -> TimerKey {
        self.call_at(deadline, move || completion.complete(reply))
    }

    /// [`complete_at`](Self::complete_at), that long from now.
    pub fn complete_after<P: Protocol>(
        &self,
        delay: Duration,
        completion: Completion<P>,
        reply: P::Reply,
    ) -> TimerKey {
        self.complete_at(after(self.now(), delay), completion, reply)
    }

    /// Gives a command a deadline: if nobody has completed it by then, it fails with `error`.
    pub fn deadline<P: Protocol>(
        &self,
        deadline: Instant,
        completion: Completion<P>,
        error: P::Error,
    ) -> Bounded<P> {
        let pid = completion.pid();
        let shared = bounded::Shared::new(completion);
        let limit = bounded::Limit::new(Arc::clone(&shared), error);
        let key = self.call_at(deadline, move || limit.reached());
        Bounded::new(shared, pid, self.clone(), key)
    }

    /// Sends `message` to the process `to` when the `deadline` has come. If the process has ended
    /// by then, the message is dropped.
    pub fn send_at<P: Protocol>(
        &self,
        deadline: Instant,
        scheduler: &Handle<P>,
        to: Pid,
        message: P::Message,
    ) -> TimerKey {
        let scheduler = scheduler.clone();
        self.call_at(deadline, move || {
            if let Err(refused) = scheduler.send(to, message) {
                dispose(refused);
            }
        })
    }

    /// Sends the process `to` a message each `period`, for the first time after one period, until
    /// the process has ended, or lives on another node and the `scheduler` is shut down and so has
    /// no route to it any more, or the timer is cancelled. Turns that the machine slept through are
    /// left out, and so are those for which its [mailbox](crate::Submission::mailbox) has no room,
    /// or its node no route for now.
    ///
    /// # Errors
    /// [`ZeroPeriod`], if that is what the period is.
    pub fn interval<P: Protocol>(
        &self,
        period: Duration,
        scheduler: &Handle<P>,
        to: Pid,
        mut message: impl FnMut() -> P::Message + Send + 'static,
    ) -> Result<TimerKey, ZeroPeriod> {
        let scheduler = scheduler.clone();
        self.call_every(period, move || match scheduler.send(to, message()) {
            Ok(()) => true,
            Err(refused) => {
                let over = match refused.reason {
                    Undelivered::Gone => true,
                    Undelivered::NoRoute => scheduler.is_cut_off(),
                    Undelivered::Full { .. } | Undelivered::Misrouted { .. } => false,
                };
                dispose(refused);
                !over
            }
        })
    }

    /// Calls `call` when the `deadline` has come, on the thread that fires timers: something short.
    /// A panic in it is contained, and lost.
    ///
    /// It may drop whatever it owns, be it the [`Scheduler`](crate::Scheduler) whose handler has
    /// the last `Timers`: what would wait for these timers in turn is left to itself. See
    /// [`Scheduler::shutdown`](crate::Scheduler::shutdown).
    pub fn call_at(&self, deadline: Instant, call: impl FnOnce() + Send + 'static) -> TimerKey {
        self.register_or_drop(deadline, Action::Once(Box::new(call)))
    }

    /// [`call_at`](Self::call_at), that long from now.
    pub fn call_after(&self, delay: Duration, call: impl FnOnce() + Send + 'static) -> TimerKey {
        self.call_at(after(self.now(), delay), call)
    }

    /// Calls `call` each `period`, for the first time after one period, until it says `false`,
    /// panics, or the timer is cancelled. Otherwise as [`call_at`](Self::call_at).
    ///
    /// # Errors
    /// [`ZeroPeriod`], if that is what the period is.
    pub fn call_every(
        &self,
        period: Duration,
        call: impl FnMut() -> bool + Send + 'static,
    ) -> Result<TimerKey, ZeroPeriod> {
        if period.is_zero() {
            return Err(ZeroPeriod);
        }
        let first = after(self.now(), period);
        Ok(self.register_or_drop(first, Action::Every(period, Box::new(call))))
    }

    /// A future that is ready that long from now.
    pub fn sleep(&self, delay: Duration) -> Sleep {
        self.sleep_until(after(self.now(), delay))
    }

    /// A future that is ready when the `deadline` has come.
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        Sleep::new(self.clone(), deadline)
    }

    /// Takes the timer out, and drops what it would have done. Whether it was still pending: then
    /// it never fires; else it has fired, is firing on another thread just now, or was cancelled
    /// before. An interval that is firing just now is still pending: it does not fire again.
    pub fn cancel(&self, key: TimerKey) -> bool {
        let cancelled = self.service.lock().cancel(key.0);
        // The lock is let go of: what follows is the user's destructor.
        let pending = cancelled.is_some();
        dispose(cancelled);
        pending
    }

    /// Cancels the timer when the guard is dropped.
    pub fn guard(&self, key: TimerKey) -> TimerGuard {
        TimerGuard::new(self.clone(), key)
    }

    /// Waits until at least `count` timers are pending. Blocking; for tests, which know then that
    /// it is time to [advance](FakeClock::advance) the clock. It returns at once when the timers
    /// are shut down.
    pub fn block_until(&self, count: usize) {
        self.service.block_until(count);
    }

    /// Cancels all that is pending, and refuses what comes later, by dropping it: completions
    /// complete with an error, and [`Sleep`] says [`TimersClosed`]. When it returns, the thread has
    /// ended. Blocking, for as long as what fires just now takes. On a thread of filch's own, a
    /// worker's, say, or the timers', it does not wait: that might be waited for in turn.
    pub fn shutdown(&self) {
        self.service.shutdown();
    }

    fn register_or_drop(&self, deadline: Instant, action: Action) -> TimerKey {
        let number = self.service.register(deadline, action);
        TimerKey(number.unwrap_or_else(|refused| {
            dispose(refused);
            // No timer's number: those count from 0.
            u64::MAX
        }))
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers")
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}

/// An interval of no length would fire without end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZeroPeriod;

impl fmt::Display for ZeroPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the period of an interval is zero: it would fire without end")
    }
}

impl Error for ZeroPeriod {}

/// What the clock cannot express is thirty years away.
fn after(now: Instant, delay: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
    now.checked_add(delay).unwrap_or_else(|| now + FAR)
}
