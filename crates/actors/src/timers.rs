//! Time for processes: commands that complete later, deadlines, messages at intervals, and futures
//! that sleep.
//!
//! These are the [`Timers`] of [`filch_timers`], whose documentation describes them and their
//! costs; [`TimersExt`] adds methods for the scheduler's types. Make them before the scheduler and
//! give them to the command handler, which delegates to them: see the example `deadlines` of this
//! crate.
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

use std::borrow::Borrow;
use std::error::Error;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Poll, ready};
use std::time::{Duration, Instant};

pub use filch_timers::{
    Alarm, Clock, FakeClock, NotSet, Sleep, SystemClock, Ticks, TimerGuard, TimerKey, Timers,
    TimersClosed, after,
};

use filch_sync::panic::drop_contained;

use filch_scheduler::{Cancel, Completion, Handle, NoSuchProcess, Pid, Protocol, Undelivered};

/// The methods that this crate adds to [`Timers`]: commands that complete later, or have a
/// deadline; delayed messages, and messages at intervals; futures with a limit.
pub trait TimersExt: Borrow<Timers> {
    /// Completes the command with `reply` at the `deadline`. If that has passed: at once, on the
    /// thread that fires timers; on a clock that is moved by hand, at its next move.
    ///
    /// # Errors
    /// [`NotSet::Closed`], with both, if the timers are shut down.
    fn complete_at<P: Protocol>(
        &self,
        deadline: Instant,
        completion: Completion<P>,
        reply: P::Reply,
    ) -> Result<TimerKey, NotCompleted<P>> {
        let timers = self.borrow().on_behalf_of(completion.handle().number());
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
    fn complete_after<P: Protocol>(
        &self,
        delay: Duration,
        completion: Completion<P>,
        reply: P::Reply,
    ) -> Result<TimerKey, NotCompleted<P>> {
        self.complete_at(self.borrow().after(delay), completion, reply)
    }

    /// Gives a command a deadline: if it is not completed by then, it fails with `error`.
    ///
    /// # Errors
    /// [`NotSet::Closed`], with the completion, if the timers are shut down.
    fn deadline<P: Protocol>(
        &self,
        deadline: Instant,
        completion: Completion<P>,
        error: P::Error,
    ) -> Result<Bounded<P>, NotSet<Completion<P>>> {
        let timers = self.borrow().on_behalf_of(completion.handle().number());
        let bounded = timers.bound(deadline, completion, |completion| completion.fail(error));
        bounded.map_err(|refused| refused.map(|(completion, _)| completion))
    }

    /// Awaits `future` for at most `limit`, from the first poll on. When the time is over, it is
    /// dropped before the return.
    ///
    /// # Errors
    /// [`TimeoutError`].
    fn timeout<F: Future>(
        &self,
        limit: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, TimeoutError>> {
        async move {
            let sleep = self.borrow().sleep(limit);
            let (mut future, mut sleep) = (pin!(future), pin!(sleep));
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
    }

    /// Asks the process `pid` to end, as [`Handle::cancel`] does, and terminates it at the
    /// `deadline` if it has not ended by then. The process is told both. Its end removes the timer.
    ///
    /// # Errors
    /// [`EndByError`]; the process was not asked then.
    fn end_by<P: Protocol>(
        &self,
        deadline: Instant,
        scheduler: &Handle<P>,
        pid: Pid,
        reason: &str,
    ) -> Result<(), EndByError> {
        terminate_at(self.borrow(), deadline, scheduler, pid)?;
        let asked = scheduler.ask_to_end(pid, Cancel::asked(reason, Some(deadline)));
        asked.map_err(EndByError::NoSuchProcess)
    }

    /// Sends `message` to the process `to` at the `deadline`, and drops it if it is
    /// [refused](filch_scheduler::Undelivered) then.
    ///
    /// # Errors
    /// [`NotSet::Closed`], with the message, if the timers are shut down.
    #[doc(alias = "send_after")]
    fn send_at<P: Protocol>(
        &self,
        deadline: Instant,
        scheduler: &Handle<P>,
        to: Pid,
        message: P::Message,
    ) -> Result<TimerKey, NotSet<P::Message>> {
        let timers = self.borrow().on_behalf_of(scheduler.number());
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
    /// down. No message was made.
    #[doc(alias = "send_interval")]
    fn interval<P: Protocol>(
        &self,
        period: Duration,
        scheduler: &Handle<P>,
        to: Pid,
        mut message: impl FnMut() -> P::Message + Send + 'static,
    ) -> Result<TimerKey, NotSet<()>> {
        let scheduler = scheduler.clone();
        let timers = self.borrow().on_behalf_of(scheduler.number());
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
        set.map_err(|refused| refused.map(drop))
    }
}

impl TimersExt for Timers {}

/// Terminates the process at the deadline, if it lives then.
pub(crate) fn terminate_at<P: Protocol>(
    timers: &Timers,
    deadline: Instant,
    scheduler: &Handle<P>,
    pid: Pid,
) -> Result<(), EndByError> {
    let timers = timers.on_behalf_of(scheduler.number());
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

/// The reason why a process was not [given a deadline](TimersExt::end_by). A
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

/// The reason why a future that is awaited [with a limit](TimersExt::timeout) has no output.
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

/// The error of [`TimersExt::complete_at`]: the completion and its reply come back.
pub type NotCompleted<P> = NotSet<(Completion<P>, <P as Protocol>::Reply)>;

/// A [`Completion`] until its deadline, at which it fails by itself; from [`TimersExt::deadline`].
/// To complete it before, [take](filch_timers::Bounded::take) it out.
pub type Bounded<P> = filch_timers::Bounded<Completion<P>>;
