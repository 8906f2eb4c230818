//! The calls of users: setting timers, cancelling them, by hand or with a scope, and the shutdown.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};

use filch_promise::take_once;
use filch_sync::panic::catch_panic;

use crate::bounded::{Bounded, Limit};
use crate::clock::{Clock, SystemClock};
use crate::queue::{Action, Owner, TimerKey, While, after};
use crate::service::Service;
use crate::sharing::Sharing;
use crate::sleep::Sleep;
use crate::timer_thread::RunningTimer;

/// Sets timers. Clones share the timers and their thread. Dropping the last one, with the last
/// [`Sleep`] and the last [`TimerGuard`], is a [`shutdown`](Self::shutdown) that does not wait: a
/// running call goes on, and the thread exits when it returns.
///
/// Setting a timer happens before it fires.
#[derive(Clone)]
pub struct Timers {
    service: Arc<Service>,
    owner: Owner,
}

impl Timers {
    /// Makes timers on the system's clock, with their thread.
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub fn new() -> io::Result<Self> {
        Self::with_clock(SystemClock)
    }

    /// Makes timers on another clock, with a thread if that clock ticks [by
    /// itself](crate::Ticks::ByItself).
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub fn with_clock(clock: impl Clock) -> io::Result<Self> {
        let service = Service::start(Box::new(clock))?;
        Ok(Self {
            service: Arc::new(service),
            owner: Owner::NONE,
        })
    }

    /// Returns the same timers for one owner, a number that is not 0: calls set through the result
    /// are that owner's, where [`pending_for`](crate::pending_for) counts them; a sleep is its
    /// waker's. A process scheduler is an owner by its `Handle::number`.
    #[must_use]
    pub fn on_behalf_of(&self, owner: usize) -> Self {
        Self {
            service: Arc::clone(&self.service),
            owner: Owner(owner),
        }
    }

    /// Returns the clock's time.
    pub fn now(&self) -> Instant {
        self.service.now()
    }

    /// Returns the time `delay` from now; thirty years from now if the clock cannot express that.
    pub fn after(&self, delay: Duration) -> Instant {
        after(self.now(), delay)
    }

    /// Returns the number of pending timers. Takes the timers' lock.
    pub fn pending(&self) -> usize {
        self.service.pending()
    }

    /// Makes `call` at the `deadline`, on the thread that fires timers; it should be short. If the
    /// deadline has passed: at once, on that thread; on a clock moved by hand, at its next move.
    ///
    /// A panic in it is contained, and its message lost. It may drop any value, the timers too.
    /// Takes the timers' lock: O(1).
    ///
    /// # Errors
    /// [`NotSet::Closed`], with the call, after the [shutdown](Self::shutdown).
    pub fn call_at<F>(&self, deadline: Instant, call: F) -> Result<TimerKey, NotSet<F>>
    where
        F: FnOnce() + Send + 'static,
    {
        self.set(deadline, call, |call| Action::Once(Box::new(call)))
    }

    /// As [`call_at`](Self::call_at), `delay` from now.
    ///
    /// # Errors
    /// As [`call_at`](Self::call_at).
    #[doc(alias = "AfterFunc")]
    pub fn call_after<F>(&self, delay: Duration, call: F) -> Result<TimerKey, NotSet<F>>
    where
        F: FnOnce() + Send + 'static,
    {
        self.call_at(self.after(delay), call)
    }

    /// Calls `call` with `value` at the `deadline`, as [`call_at`](Self::call_at), if `is_wanted`
    /// is still true. An unwanted timer is cancelled at some later time: each call of this checks
    /// two of the pending timers, in turn, so that unwanted ones never outnumber the others by
    /// much.
    ///
    /// `is_wanted` is called under the timers' lock: it must be quick, and leave the timers alone.
    /// If it panics, the call is wanted. The values of cancelled timers are dropped on the thread
    /// that calls this.
    ///
    /// # Errors
    /// [`NotSet::Closed`], with the value, after the [shutdown](Self::shutdown).
    pub fn call_at_while<T: Send + 'static>(
        &self,
        deadline: Instant,
        value: T,
        is_wanted: impl Fn(&T) -> bool + Send + 'static,
        call: impl FnOnce(T) + Send + 'static,
    ) -> Result<TimerKey, NotSet<T>> {
        self.set(deadline, value, |value| {
            Action::While(Box::new(WhileWanted {
                value,
                is_wanted,
                call,
            }))
        })
    }

    /// Makes `call` after each `period` until it returns `false`, panics, or the timer is
    /// cancelled. Turns that the machine slept through are left out. Otherwise as
    /// [`call_at`](Self::call_at).
    ///
    /// # Errors
    /// [`NotSet::ZeroPeriod`], with the call, if the period is zero; [`NotSet::Closed`].
    #[doc(alias = "Ticker")]
    pub fn call_every<F>(&self, period: Duration, call: F) -> Result<TimerKey, NotSet<F>>
    where
        F: FnMut() -> bool + Send + 'static,
    {
        if period.is_zero() {
            return Err(NotSet::ZeroPeriod(call));
        }
        let every = |call| Action::Every(period, Box::new(call));
        self.set(self.after(period), call, every)
    }

    /// Returns a future that is ready `delay` from now.
    pub fn sleep(&self, delay: Duration) -> Sleep {
        self.sleep_until(self.after(delay))
    }

    /// Returns a future that is ready at the `deadline`.
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        Sleep::new(Arc::clone(&self.service), deadline)
    }

    /// Removes the timer, and drops its call; a panic in that is contained. Returns whether it was
    /// still pending: then it never fires. Else it has fired, is firing on another thread, or was
    /// cancelled before. An interval that is firing is still pending: it does not fire again. A key
    /// of other timers names none of these.
    ///
    /// Takes the timers' lock: O(1).
    #[doc(alias = "cancel_timer")]
    pub fn cancel(&self, key: TimerKey) -> bool {
        self.service.cancel(key)
    }

    /// Gives `value` a deadline: if nobody has [taken](Bounded::take) it by then, `call` gets it.
    /// If the timer is cancelled or shut down, the value is dropped.
    ///
    /// # Errors
    /// [`NotSet::Closed`], with the value and the call, after the [shutdown](Self::shutdown).
    pub fn bound<T: Send + 'static, F>(
        &self,
        deadline: Instant,
        value: T,
        call: F,
    ) -> Result<Bounded<T>, NotSet<(T, F)>>
    where
        F: FnOnce(T) + Send + 'static,
    {
        let (value, limit) = take_once(value);
        let given = (Limit::new(limit), call);
        match self.set(deadline, given, |(limit, call)| {
            Action::Once(Box::new(move || limit.reached(call)))
        }) {
            Ok(key) => Ok(Bounded::new(value, self.guard(key))),
            Err(refused) => {
                // Before the limit goes, which would drop it.
                let Some(value) = value.take() else {
                    unreachable!("no timer has taken it")
                };
                Err(refused.map(|(_, call)| (value, call)))
            }
        }
    }

    /// Returns a number of waits that share a timer with another one: zero, until it is set.
    pub fn sharing(&self) -> Sharing {
        Sharing {
            service: Arc::clone(&self.service),
            waits: 0,
        }
    }

    /// Returns a guard that cancels the timer when it is dropped.
    pub fn guard(&self, key: TimerKey) -> TimerGuard {
        TimerGuard::new(Arc::clone(&self.service), key)
    }

    /// Waits until at least `count` timers are pending, or the timers are shut down. Everything
    /// that their threads did before they set them happens before this returns.
    ///
    /// Blocking. A test learns from it that it is time to move the clock. A test that holds the
    /// clock alone calls [`FakeClock::block_until`](crate::FakeClock::block_until).
    pub fn block_until(&self, count: usize) {
        self.service.block_until(count);
    }

    /// Cancels all pending timers, and refuses later ones: a [`Sleep`] returns
    /// [`TimersClosed`](crate::TimersClosed). When it returns, the thread has ended.
    ///
    /// Blocks for as long as the running call takes, which may be for ever: see
    /// [`shutdown_timeout`](Self::shutdown_timeout). It does not wait on a thread that fires
    /// timers, these or others, nor on one of a process scheduler: the running call might wait for
    /// this thread in turn.
    pub fn shutdown(&self) {
        self.service.shutdown();
    }

    /// As [`shutdown`](Self::shutdown), but waits for at most `patience`. When it returns `Ok`,
    /// nothing fires any more.
    ///
    /// # Errors
    /// [`RunningTimer`]: a timer's call has not returned. Its thread exits when it does.
    pub fn shutdown_timeout(&self, patience: Duration) -> Result<(), RunningTimer> {
        // A deadline that the clock cannot express never comes.
        self.service
            .shutdown_by(Instant::now().checked_add(patience))
    }

    fn set<T>(
        &self,
        deadline: Instant,
        given: T,
        into_action: impl FnOnce(T) -> Action,
    ) -> Result<TimerKey, NotSet<T>> {
        let set = (self.service).register(deadline, self.owner, given, into_action);
        set.map(|(key, _)| key).map_err(NotSet::Closed)
    }
}

/// A value that is wanted for a while, and the call to make with it.
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

/// The error for a timer that was not set; what was given for it comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotSet<T> {
    /// The timers are shut down: it would never fire.
    Closed(T),
    /// The period of an interval is zero: it would fire without end.
    ZeroPeriod(T),
}

impl<T> NotSet<T> {
    /// Returns what was given for the timer.
    pub fn into_inner(self) -> T {
        match self {
            Self::Closed(given) | Self::ZeroPeriod(given) => given,
        }
    }

    /// Returns the error with another value in the place of what was given.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> NotSet<U> {
        match self {
            Self::Closed(given) => NotSet::Closed(map(given)),
            Self::ZeroPeriod(given) => NotSet::ZeroPeriod(map(given)),
        }
    }
}

impl<T> fmt::Display for NotSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed(_) => "the timers are shut down: it would never fire",
            Self::ZeroPeriod(_) => "the period of an interval is zero: it would fire without end",
        })
    }
}

impl<T> fmt::Debug for NotSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NotSet({self})")
    }
}

impl<T> Error for NotSet<T> {}

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
