//! Time for processes: commands that complete later, deadlines, messages at intervals, and futures
//! that sleep.
//!
//! These are the timers of [`filch_timers`], whose documentation describes them and their costs,
//! with methods for the scheduler's types. Make [`Timers`] before the scheduler and give them to
//! the command handler, which delegates to them: see the example `deadlines` of this crate.
//!
//! A [standstill](filch_scheduler::Handle::wait_for_standstill) counts the pending timers: those
//! set here for a process, sleeps of futures, and calls set for no process on timers that have
//! served the scheduler.
//!
//! A pending completion keeps its process's slot in the table, even after the process has ended.
//! Later sleeps and delayed messages [sweep out](filch_timers::Timers::call_at_while) the
//! completions of such sleeps, and messages for the dead, and drop them on the thread that sets the
//! new timer. A timer that is [cancelled](filch_timers::Timers::cancel) or [shut
//! down](filch_timers::Timers::shutdown) before it fires drops its completion, so that the process
//! gets [`CommandError::Abandoned`](filch_scheduler::CommandError::Abandoned).

use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Poll, ready};
use std::time::{Duration, Instant};
use std::{fmt, io, ops};

pub use filch_timers::{
    Alarm, Clock, FakeClock, NotSet, Sleep, SystemClock, Ticks, TimerGuard, TimerKey, TimersClosed,
    after,
};

use filch_sync::panic::drop_contained;

use filch_scheduler::{
    Cancel, Completion, HandedBack, Handle, NoSuchProcess, Pid, Protocol, Undelivered,
    is_own_thread,
};

/// Sets timers, for processes and for anything else: it dereferences to [`filch_timers::Timers`].
///
/// Clones share the timers and their thread; dropping the last one [shuts them
/// down](filch_timers::Timers::shutdown). On one of filch's own threads the drop does not wait for
/// a call that is firing: see [`Scheduler::shutdown`](filch_scheduler::Scheduler::shutdown).
#[derive(Clone)]
pub struct Timers {
    timers: filch_timers::Timers,
}

impl Timers {
    /// Makes timers on the system's clock, with their thread.
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub fn new() -> io::Result<Self> {
        Self::with_clock(SystemClock)
    }

    /// Makes timers on another clock, with a thread if that one ticks [by itself](Ticks::ByItself).
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub fn with_clock(clock: impl Clock) -> io::Result<Self> {
        let timers = filch_timers::Builder::new()
            .clock(clock)
            .detach_if(is_own_thread);
        let timers = timers.build()?;
        Ok(Self { timers })
    }

    /// Completes the command with `reply` at the `deadline`. If that has passed: at once, on the
    /// thread that fires timers; on a clock that is moved by hand, at its next move.
    ///
    /// # Errors
    /// [`NotSet::Closed`], with both, if the timers are shut down.
    pub fn complete_at<P: Protocol>(
        &self,
        deadline: Instant,
        completion: Completion<P>,
        reply: P::Reply,
    ) -> Result<TimerKey, NotCompleted<P>> {
        let timers = self.on_behalf_of(completion.handle().number());
        timers.call_at_while(
            deadline,
            (completion, reply),
            |(completion, _)| completion.is_wanted(),
            |(completion, reply)| {
                completion.complete(reply);
            },
        )
    }

    /// Completes the command as [`complete_at`](Self::complete_at) does, `delay` from now.
    ///
    /// # Errors
    /// As [`complete_at`](Self::complete_at).
    pub fn complete_after<P: Protocol>(
        &self,
        delay: Duration,
        completion: Completion<P>,
        reply: P::Reply,
    ) -> Result<TimerKey, NotCompleted<P>> {
        self.complete_at(self.after(delay), completion, reply)
    }

    /// Gives a command a deadline: if it is not completed by then, it fails with `error`.
    ///
    /// # Errors
    /// [`NotSet::Closed`], if the timers are shut down, with the completion, and a call that fails
    /// it so.
    pub fn deadline<P: Protocol>(
        &self,
        deadline: Instant,
        completion: Completion<P>,
        error: P::Error,
    ) -> Result<Bounded<P>, NotBounded<P>> {
        let timers = self.on_behalf_of(completion.handle().number());
        let fail = |completion: Completion<P>| completion.fail(error);
        let set = timers.bound(deadline, completion, fail);
        let back = |(completion, fail)| HandedBack::new((completion, Box::new(fail) as _));
        set.map_err(|refused| refused.map(back))
    }

    /// Awaits `future` for at most `limit`. When the time is over, it is dropped before the return.
    ///
    /// # Errors
    /// [`TimeoutError`].
    pub async fn timeout<F: Future>(
        &self,
        limit: Duration,
        future: F,
    ) -> Result<F::Output, TimeoutError> {
        let (mut future, mut sleep) = (pin!(future), pin!(self.sleep(limit)));
        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Ok(output));
            }
            let over = ready!(sleep.as_mut().poll(context));
            Poll::Ready(Err(match over {
                Ok(()) => TimeoutError::Elapsed,
                Err(TimersClosed) => TimeoutError::TimersClosed,
            }))
        })
        .await
    }

    /// Asks the process `pid` to end, as [`Handle::cancel`] does, and terminates it at the
    /// `deadline` if it has not ended by then. The process is told both. Its end removes the timer.
    ///
    /// # Errors
    /// [`EndByError`]; the process was not asked then.
    pub fn end_by<P: Protocol>(
        &self,
        deadline: Instant,
        scheduler: &Handle<P>,
        pid: Pid,
        reason: &str,
    ) -> Result<(), EndByError> {
        self.terminate_at(deadline, scheduler, pid)?;
        let asked = scheduler.ask_to_end(pid, Cancel::asked(reason, Some(deadline)));
        asked.map_err(EndByError::NoSuchProcess)
    }

    /// Sends `message` to the process `to` at the `deadline`, and drops it if it is
    /// [refused](filch_scheduler::Undelivered) then.
    ///
    /// # Errors
    /// [`NotSet::Closed`], with the message, if the timers are shut down.
    pub fn send_at<P: Protocol>(
        &self,
        deadline: Instant,
        scheduler: &Handle<P>,
        to: Pid,
        message: P::Message,
    ) -> Result<TimerKey, NotSet<P::Message>> {
        let timers = self.on_behalf_of(scheduler.number());
        let sent = timers.call_at_while(
            deadline,
            (scheduler.clone(), message),
            move |(scheduler, _)| scheduler.takes_messages(to),
            move |(scheduler, message)| {
                if let Err(refused) = scheduler.send(to, message) {
                    drop_contained(refused);
                }
            },
        );
        sent.map_err(|refused| refused.map(|(_, message)| message))
    }

    /// Sends the process `to` a message each `period`, the first after one period, until the timer
    /// is cancelled, or the process has ended or is found to be a future; or, for a process on
    /// another node, until the `scheduler` is shut down. A turn is left out if the machine slept
    /// through it, if the [mailbox](crate::SubmissionExt::mailbox) has no room for it, or if the
    /// node has no route for now.
    ///
    /// # Errors
    /// [`NotSet::ZeroPeriod`], if the period is zero; [`NotSet::Closed`], if the timers are shut
    /// down. Both have a call that sends one message.
    pub fn interval<P: Protocol>(
        &self,
        period: Duration,
        scheduler: &Handle<P>,
        to: Pid,
        mut message: impl FnMut() -> P::Message + Send + 'static,
    ) -> Result<TimerKey, NotRepeated> {
        let scheduler = scheduler.clone();
        let timers = self.on_behalf_of(scheduler.number());
        let set = timers.call_every(period, move || match scheduler.send(to, message()) {
            Ok(()) => true,
            Err(refused) => {
                let over = match refused.reason {
                    Undelivered::NoSuchProcess | Undelivered::Future => true,
                    Undelivered::NoRoute => scheduler.is_cut_off(),
                    _ => false,
                };
                drop_contained(refused);
                !over
            }
        });
        set.map_err(|refused| refused.map(|call| HandedBack::new(Box::new(call) as _)))
    }
}

impl Timers {
    /// Terminates the process at the deadline, if it lives then.
    pub(crate) fn terminate_at<P: Protocol>(
        &self,
        deadline: Instant,
        scheduler: &Handle<P>,
        pid: Pid,
    ) -> Result<(), EndByError> {
        let timers = self.on_behalf_of(scheduler.number());
        let terminated = scheduler.clone();
        let key = timers.call_at(deadline, move || {
            let _ = terminated.terminate(pid);
        });
        let key = key.map_err(|_| EndByError::TimersClosed)?;
        let _ = scheduler.at_end(pid, move |_| {
            timers.cancel(key);
        });
        Ok(())
    }
}

/// The reason why a process was not [given a deadline](Timers::end_by). A
/// [submission](crate::SubmissionExt::deadline) is refused with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndByError {
    /// It has ended already, or never was.
    NoSuchProcess(NoSuchProcess),
    /// The deadline of a process that was to be submitted has passed.
    Passed,
    /// The timers are shut down: they would not end it.
    TimersClosed,
}

impl fmt::Display for EndByError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchProcess(error) => error.fmt(f),
            Self::Passed => f.write_str("the deadline of the process has passed"),
            Self::TimersClosed => f.write_str("the timers of the deadline are shut down"),
        }
    }
}

impl Error for EndByError {}

impl ops::Deref for Timers {
    type Target = filch_timers::Timers;

    fn deref(&self) -> &filch_timers::Timers {
        &self.timers
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.timers.fmt(f)
    }
}

/// The reason why a future that is awaited [with a limit](Timers::timeout) has no output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutError {
    /// Its time is over.
    Elapsed,
    /// The timers were shut down, so nobody could tell when its time is over.
    TimersClosed,
}

impl fmt::Display for TimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elapsed => f.write_str("the time for it is over"),
            Self::TimersClosed => TimersClosed.fmt(f),
        }
    }
}

impl Error for TimeoutError {}

/// The error of [`Timers::interval`]: a call that sends one message, and returns false when the
/// interval is over.
pub type NotRepeated = NotSet<HandedBack<Box<dyn FnMut() -> bool + Send>>>;

/// The error of [`Timers::deadline`]: the completion comes back, and a call that fails it.
pub type NotBounded<P> = NotSet<HandedBack<(Completion<P>, Fail<P>)>>;

type Fail<P> = Box<dyn FnOnce(Completion<P>) + Send>;

/// The error of [`Timers::complete_at`]: the completion and its reply come back.
pub type NotCompleted<P> = NotSet<(Completion<P>, <P as Protocol>::Reply)>;

/// A [`Completion`] until its deadline, at which it fails by itself; from [`Timers::deadline`]. To
/// complete it before, [take](filch_timers::Bounded::take) it out.
pub type Bounded<P> = filch_timers::Bounded<Completion<P>>;
