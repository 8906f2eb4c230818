//! What users call: setting timers, cancelling them, and the end.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};

use filch_promise::rivals;
use filch_sync::panic::{catch_panic, drop_contained};

use crate::bounded::{Bounded, Limit};
use crate::clock::{Clock, SystemClock};
use crate::guard::TimerGuard;
use crate::queue::{Action, Owner, TimerKey, While, after};
use crate::service::Service;
use crate::sleep::Sleep;
use crate::timer_thread::RunningTimer;

/// Sets timers. Clones share the timers and their thread; when the last one is dropped, with the
/// last [`Sleep`] and the last [`TimerGuard`], that is a [`shutdown`](Self::shutdown) that does not
/// wait: what fires just then goes on, and the thread leaves when it returns.
///
/// Setting a timer happens before it fires.
#[derive(Clone)]
pub struct Timers {
    service: Arc<Service>,
    owner: Owner,
}

impl Timers {
    /// Timers on the system's clock, with their thread.
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub fn new() -> io::Result<Self> {
        Self::with_clock(SystemClock)
    }

    /// Timers on another clock, with a thread if that one ticks
    /// [by itself](crate::Ticks::ByItself).
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub fn with_clock(clock: impl Clock) -> io::Result<Self> {
        let service = Service::start(Box::new(clock), || false)?;
        Ok(Self::from_service(service))
    }

    pub(crate) fn from_service(service: Service) -> Self {
        Self {
            service: Arc::new(service),
            owner: Owner::NONE,
        }
    }

    /// The same timers; what is set through the result is set for `owner`, a number that is not 0.
    /// See [`pending_for`](crate::pending_for).
    #[doc(hidden)] // for the schedulers, which tell what may still wake their processes
    #[must_use]
    pub fn on_behalf_of(&self, owner: usize) -> Self {
        Self {
            service: Arc::clone(&self.service),
            owner: Owner(owner),
        }
    }

    /// What time it is.
    pub fn now(&self) -> Instant {
        self.service.now()
    }

    /// That long from now. What the clock cannot express is thirty years away.
    pub fn after(&self, delay: Duration) -> Instant {
        after(self.now(), delay)
    }

    /// How many timers are pending. Blocking, for the timers' lock.
    pub fn pending(&self) -> usize {
        self.service.pending()
    }

    /// Calls `call` when the `deadline` has come, on the thread that fires timers: something short.
    /// If the deadline has passed: at once, on that thread; on a clock that is moved by hand, when
    /// that happens next. After the [shutdown](Self::shutdown) it is dropped instead.
    ///
    /// A panic in it is contained, and its message lost. It may drop whatever it owns, the timers
    /// too. Blocking, for the timers' lock: O(log n).
    pub fn call_at(&self, deadline: Instant, call: impl FnOnce() + Send + 'static) -> TimerKey {
        self.register_or_drop(deadline, Action::Once(Box::new(call)))
    }

    /// [`call_at`](Self::call_at), that long from now.
    pub fn call_after(&self, delay: Duration, call: impl FnOnce() + Send + 'static) -> TimerKey {
        self.call_at(self.after(delay), call)
    }

    /// Calls `call` with `value` when the `deadline` has come, as [`call_at`](Self::call_at), while
    /// that `is_wanted`. A timer that is wanted no more is cancelled some time: each call of this
    /// looks at two of those that are pending, in turn, so that the unwanted ones are never many
    /// more than the others.
    ///
    /// `is_wanted` is asked under the timers' lock: it is to be quick, and to leave the timers
    /// alone. A panic in it says that the call is wanted. What the cancelled timers own is dropped
    /// on the thread that calls this.
    pub fn call_at_while<T: Send + 'static>(
        &self,
        deadline: Instant,
        value: T,
        is_wanted: impl Fn(&T) -> bool + Send + 'static,
        call: impl FnOnce(T) + Send + 'static,
    ) -> TimerKey {
        let call = WhileWanted {
            value,
            is_wanted,
            call,
        };
        self.register_or_drop(deadline, Action::While(Box::new(call)))
    }

    /// Calls `call` each `period`, for the first time after one period, until it says `false`,
    /// panics, or the timer is cancelled. Turns that the machine slept through are left out.
    /// Otherwise as [`call_at`](Self::call_at).
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
        let first = self.after(period);
        Ok(self.register_or_drop(first, Action::Every(period, Box::new(call))))
    }

    /// A future that is ready that long from now.
    pub fn sleep(&self, delay: Duration) -> Sleep {
        self.sleep_until(self.after(delay))
    }

    /// A future that is ready when the `deadline` has come.
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        Sleep::new(Arc::clone(&self.service), deadline)
    }

    /// Takes the timer out, and drops what it would have done; a panic in there is contained.
    /// Whether it was still pending: then it never fires; else it has fired, is firing on another
    /// thread just now, or was cancelled before. An interval that is firing just now is still
    /// pending: it does not fire again. A key of other timers names none of these.
    ///
    /// Blocking, for the timers' lock: O(log n).
    pub fn cancel(&self, key: TimerKey) -> bool {
        self.service.cancel(key)
    }

    /// Gives `value` a deadline: if nobody has [taken](Bounded::take) it by then, it goes to
    /// `call`. If the timer is cancelled or shut down, it is dropped.
    pub fn bound<T: Send + 'static>(
        &self,
        deadline: Instant,
        value: T,
        call: impl FnOnce(T) + Send + 'static,
    ) -> Bounded<T> {
        let (value, limit) = rivals(value);
        let limit = Limit::new(limit);
        let key = self.call_at(deadline, move || limit.reached(call));
        Bounded::new(value, self.guard(key))
    }

    /// Cancels the timer when the guard is dropped.
    pub fn guard(&self, key: TimerKey) -> TimerGuard {
        TimerGuard::new(Arc::clone(&self.service), key)
    }

    /// Waits until at least `count` timers are pending. It returns at once when the timers are shut
    /// down. What their threads did before they set them happens before this returns.
    ///
    /// Blocking; for tests, which know then that it is time to move the clock. A test that holds
    /// the clock alone calls [`FakeClock::block_until`](crate::FakeClock::block_until).
    pub fn block_until(&self, count: usize) {
        self.service.block_until(count);
    }

    /// Cancels all that is pending, and refuses what comes later, by dropping it: a [`Sleep`] says
    /// [`TimersClosed`](crate::TimersClosed). When it returns, the thread has ended.
    ///
    /// Blocking, for as long as what fires just now takes, which may be for ever: see
    /// [`shutdown_timeout`](Self::shutdown_timeout). It does not wait on a thread that fires
    /// timers, be it of other ones, nor where [`Builder::detach_if`](crate::Builder::detach_if)
    /// says so: it might be waited for in turn.
    pub fn shutdown(&self) {
        self.service.shutdown();
    }

    /// As [`shutdown`](Self::shutdown), but it waits for `patience` at most. When it returns `Ok`,
    /// nothing fires any more.
    ///
    /// # Errors
    /// [`RunningTimer`]: what fired has not returned. Its thread leaves when it does.
    pub fn shutdown_timeout(&self, patience: Duration) -> Result<(), RunningTimer> {
        // A deadline that the clock cannot express never comes.
        self.service
            .shutdown_by(Instant::now().checked_add(patience))
    }

    fn register_or_drop(&self, deadline: Instant, action: Action) -> TimerKey {
        match self.service.register(deadline, self.owner, action) {
            Ok(key) => key,
            Err(refused) => {
                drop_contained(refused);
                TimerKey::NONE
            }
        }
    }
}

/// A value that is wanted for a while, and what is called with it then.
struct WhileWanted<T, W, C> {
    value: T,
    is_wanted: W,
    call: C,
}

impl<T, W, C> While for WhileWanted<T, W, C>
where
    T: Send,
    W: Fn(&T) -> bool + Send,
    C: FnOnce(T) + Send,
{
    fn is_wanted(&self) -> bool {
        catch_panic(|| (self.is_wanted)(&self.value)).unwrap_or(true)
    }

    fn call(self: Box<Self>) {
        if While::is_wanted(&*self) {
            (self.call)(self.value);
        }
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
