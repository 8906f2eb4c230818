//! Futures and async functions submitted as processes.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::resume_unwind;

use filch_scheduler::{
    HandedBack, Handle, HookError, NotAdmitted, Protocol, Submission,
};
use filch_sync::panic::catch_panic;

use crate::future::inbox::Inbox;
use crate::future::join_handle::JoinHandle;
use crate::future::process::{FutureProcess, InboxProcess};
use crate::mailbox::latest::Latest;

/// Futures and async functions as processes.
pub trait Spawns<P: Protocol> {
    /// Submits a future as a process, whatever its output. Lock-free, except for memory.
    ///
    /// It is polled on the workers, one thread at a time; waking it makes the process Ready. It is
    /// a process like any other, except that messages to its PID are refused, with
    /// [`Undelivered::Future`](filch_scheduler::Undelivered::Future). Signals, monitors and links reach it;
    /// what they, and the shutdown, have to tell a process is dropped. If it is
    /// [upgraded](Handle::upgrade) to another process, the future is dropped, that one takes
    /// messages, and the future's handle says
    /// [`ProcessError::Terminated`](filch_scheduler::ProcessError::Terminated) when it has ended well, or how
    /// it failed.
    ///
    /// ```
    /// # enum Any {}
    /// # impl filch_scheduler::Protocol for Any {
    /// #     type Input = (); type Message = (); type Command = (); type Reply = ();
    /// #     type Output = (); type Error = String;
    /// # }
    /// # use filch_scheduler::Scheduler;
    /// let scheduler = Scheduler::<Any>::builder().workers(2).build()?;
    /// let answer = scheduler.spawn(async { 6 * 7 })?;
    /// let doubled = scheduler.spawn(async { answer.await.map(|answer| 2 * answer) })?;
    /// assert_eq!(doubled.join()??, 84);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SpawnError`], with the future, if the scheduler is shut down or full, or has no memory for
    /// one more process. (The box of a future of more than four words is not refused: see
    /// [`submit`](Handle::submit).)
    fn spawn<F>(&self, future: F) -> Result<JoinHandle<P, F::Output>, SpawnError<P, F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Submits an async function as a process, with an [`Inbox`] for its events: messages,
    /// [`Cancel`](filch_scheduler::Event::Cancel), ends of those that it watches or is linked to. It may
    /// await anything else meanwhile. It needs no input, and its output is of any type.
    ///
    /// ```
    /// # enum Sums {}
    /// # impl filch_scheduler::Protocol for Sums {
    /// #     type Input = (); type Message = u64; type Command = (); type Reply = ();
    /// #     type Output = (); type Error = String;
    /// # }
    /// # use filch_scheduler::{Event, Scheduler};
    /// # let scheduler = Scheduler::<Sums>::builder().workers(2).build()?;
    /// let adder = scheduler.spawn_with(|mut inbox| async move {
    ///     let mut sum = 0;
    ///     while let Event::Message(number) = inbox.next().await {
    ///         sum += number;
    ///     }
    ///     sum
    /// })?;
    /// scheduler.send(adder.pid(), 40)?;
    /// scheduler.send(adder.pid(), 2)?;
    /// scheduler.cancel(adder.pid(), "that is all")?;
    /// assert_eq!(adder.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A function that goes on after the [`Cancel`](filch_scheduler::Event::Cancel) of a shutdown is dropped
    /// where it is suspended when the patience is over. An [upgrade](Handle::upgrade) does to it what
    /// it does to a [future](Self::spawn).
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn), with the function.
    ///
    /// # Panics
    /// If the function panics before its future is there, and with that message. Nothing is spawned
    /// then.
    fn spawn_with<C, F>(&self, function: C) -> Result<JoinHandle<P, F::Output>, SpawnError<P, C>>
    where
        C: FnOnce(Inbox<P>) -> F,
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Prepares to submit an async function with options:
    /// `handle.submission_with(|inbox| async move { … }).trap_exits().spawn()`. See
    /// [`spawn_with`](Self::spawn_with).
    fn submission_with<C, F>(&self, function: C) -> Submission<'_, P, AsyncFn<C>>
    where
        C: FnOnce(Inbox<P>) -> F,
        F: Future + Send + 'static,
        F::Output: Send + 'static;
}

impl<P: Protocol> Spawns<P> for Handle<P> {
    fn spawn<F>(&self, future: F) -> Result<JoinHandle<P, F::Output>, SpawnError<P, F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let submission = self.prepare(future).without_mailbox().as_future();
        match submission.admit() {
            Ok((place, future)) => place
                .begin(FutureProcess(future))
                .map(JoinHandle::new)
                .map_err(SpawnError::Hook),
            Err((error, future)) => Err(SpawnError::refused(error, future)),
        }
    }

    fn spawn_with<C, F>(&self, function: C) -> Result<JoinHandle<P, F::Output>, SpawnError<P, C>>
    where
        C: FnOnce(Inbox<P>) -> F,
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.submission_with(function).spawn()
    }

    fn submission_with<C, F>(&self, function: C) -> Submission<'_, P, AsyncFn<C>>
    where
        C: FnOnce(Inbox<P>) -> F,
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.prepare(AsyncFn(function)).as_future().reads_later()
    }
}

/// An async function that is about to be submitted.
#[derive(Debug)]
pub struct AsyncFn<C>(C);

/// Submits an async function that was [prepared](Spawns::submission_with).
pub trait SpawnsPrepared<P: Protocol, C, F: Future> {
    /// Submits it. See [`Spawns::spawn_with`].
    ///
    /// # Errors
    /// As [`Spawns::spawn_with`]; and [`SpawnError::Name`], if the name is taken, or
    /// [`SpawnError::DeadlinePassed`].
    ///
    /// # Panics
    /// As [`Spawns::spawn_with`].
    fn spawn(self) -> Result<JoinHandle<P, F::Output>, SpawnError<P, C>>;
}

impl<P, C, F> SpawnsPrepared<P, C, F> for Submission<'_, P, AsyncFn<C>>
where
    P: Protocol,
    C: FnOnce(Inbox<P>) -> F,
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn spawn(self) -> Result<JoinHandle<P, F::Output>, SpawnError<P, C>> {
        let scheduler = self.handle().clone();
        let (place, AsyncFn(function)) = match self.admit() {
            Ok(admitted) => admitted,
            Err((error, AsyncFn(function))) => return Err(SpawnError::refused(error, function)),
        };
        let policy = place.policy().map(|policy| policy as &dyn Any);
        let latest = policy.and_then(|policy| policy.downcast_ref::<Latest<P>>());
        let inbox = Inbox::new(scheduler, place.pid(), latest.map(Latest::most));
        let mail = inbox.mail();
        // It may panic, and then nobody has the place.
        let future = match catch_panic(|| function(inbox)) {
            Ok(future) => FutureProcess(future),
            Err(message) => {
                drop(place);
                resume_unwind(Box::new(message));
            }
        };
        let process = InboxProcess {
            future,
            mail,
            has_begun: false,
        };
        place
            .begin(process)
            .map(JoinHandle::new)
            .map_err(SpawnError::Hook)
    }
}

/// Why a future, or an async function, was not spawned. Unless a hook refused, it comes back,
/// unpolled.
#[non_exhaustive]
pub enum SpawnError<P: Protocol, F> {
    /// There is no place for it.
    NotAdmitted(NotAdmitted, HandedBack<F>),
    /// The [hook](crate::LifeCycle::on_start) refused or panicked; the future was dropped.
    Hook(HookError<P>),
}

impl<P: Protocol, F> SpawnError<P, F> {
    fn refused(error: NotAdmitted, future: F) -> Self {
        Self::NotAdmitted(error, HandedBack::new(future))
    }
}

impl<P: Protocol, F> fmt::Display for SpawnError<P, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAdmitted(error, _) => error.fmt(f),
            Self::Hook(error) => error.fmt(f),
        }
    }
}

impl<P: Protocol, F> fmt::Debug for SpawnError<P, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpawnError({self})")
    }
}

impl<P: Protocol, F> Error for SpawnError<P, F> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotAdmitted(error, _) => Some(error),
            Self::Hook(error) => Some(error),
            _ => None,
        }
    }
}
