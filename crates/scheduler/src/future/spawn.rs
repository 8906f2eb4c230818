//! Futures and async functions submitted as processes.

use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;

use filch_process_table::{Mailbox, Refusal};
use filch_sync::panic::catch_panic;

use crate::api::pinned::Pinned;
use crate::api::submission::Options;
use crate::api::ties::Ties;
use crate::future::process::{FutureProcess, InboxProcess};
use crate::protocol::error_by_display;
use crate::table::body::{ProcessBox, process_box};
use crate::{
    ExitReason, HandedBack, Handle, HookError, Inbox, JoinHandle, Protocol, RegisterError,
    Submission, SubmitError,
};

impl<P: Protocol> Handle<P> {
    /// Submits a future as a process, whatever its output. Lock-free, except for memory.
    ///
    /// It is polled on the workers, one thread at a time; waking it makes the process Ready. It is
    /// a process like any other, except that messages to its PID are refused, with
    /// [`Undelivered::Future`](crate::Undelivered::Future). Signals, monitors and links reach it;
    /// what they, and the shutdown, have to tell a process is dropped. If it is
    /// [upgraded](Self::upgrade) to another process, the future is dropped, that one takes
    /// messages, and the future's handle says
    /// [`ProcessError::Terminated`](crate::ProcessError::Terminated) when it has ended well, or how
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
    /// [`submit`](Self::submit).)
    pub fn spawn<F>(&self, future: F) -> Result<JoinHandle<P, F::Output>, SpawnError<P, F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let mut options = Options::default();
        options.placement.mailbox = Mailbox::Closed;
        options.placement.is_future = true;
        let place = match self.admit(&options) {
            Ok(place) => place,
            Err(refusal) => return Err(SpawnError::refused(refusal, future)),
        };
        let process = process_box(FutureProcess(future));
        self.begin_future(place, process, &options, None)
    }

    /// Submits an async function as a process, with an [`Inbox`] for its events: messages,
    /// [`Cancel`](crate::Event::Cancel), ends of those that it watches or is linked to. It may
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
    /// A function that goes on after the [`Cancel`](crate::Event::Cancel) of a shutdown is dropped
    /// where it is suspended when the patience is over. An [upgrade](Self::upgrade) does to it what
    /// it does to a [future](Self::spawn).
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn), with the function.
    ///
    /// # Panics
    /// If the function panics before its future is there, and with that message. Nothing is spawned
    /// then.
    pub fn spawn_with<C, F>(
        &self,
        function: C,
    ) -> Result<JoinHandle<P, F::Output>, SpawnError<P, C>>
    where
        C: FnOnce(Inbox<P>) -> F,
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.submission_with(function).spawn()
    }

    /// Prepares to submit an async function with options:
    /// `handle.submission_with(|inbox| async move { … }).trap_exits().spawn()`. See
    /// [`spawn_with`](Self::spawn_with).
    pub fn submission_with<C, F>(&self, function: C) -> Submission<'_, P, AsyncFn<C>>
    where
        C: FnOnce(Inbox<P>) -> F,
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let mut submission = self.prepare(AsyncFn(function));
        submission.options.reads_later = true;
        submission.options.placement.is_future = true;
        submission
    }

    /// Has a future begin its life in the place that it was given.
    fn begin_future<T: Send + 'static, F>(
        &self,
        place: Pinned<P>,
        process: ProcessBox<P>,
        options: &Options,
        ties: Option<&Ties<'_, P>>,
    ) -> Result<JoinHandle<P, T>, SpawnError<P, F>> {
        match self.begin(&place, process, |_, _| Ok(()), options, ties) {
            Ok(()) => Ok(JoinHandle::new(place)),
            Err(SubmitError::Hook(error)) => Err(SpawnError::Hook(error)),
            Err(error) => unreachable!("it was admitted, and has no `init`: {error}"),
        }
    }
}

/// An async function that is about to be submitted.
#[derive(Debug)]
pub struct AsyncFn<C>(C);

impl<P, C, F> Submission<'_, P, AsyncFn<C>>
where
    P: Protocol,
    C: FnOnce(Inbox<P>) -> F,
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    /// Submits it. See [`Handle::spawn_with`].
    ///
    /// # Errors
    /// As [`Handle::spawn_with`]; and [`SpawnError::Name`], if the [name](Self::name) is taken, or
    /// [`SpawnError::DeadlinePassed`].
    ///
    /// # Panics
    /// As [`Handle::spawn_with`].
    pub fn spawn(self) -> Result<JoinHandle<P, F::Output>, SpawnError<P, C>> {
        let Self {
            handle,
            start: AsyncFn(function),
            mut options,
            ties,
        } = self;
        if ties.is_over() {
            return Err(SpawnError::DeadlinePassed(HandedBack::new(function)));
        }
        let place = match handle.admit_with(&mut options) {
            Ok(place) => place,
            Err(refusal) => return Err(SpawnError::refused(refusal, function)),
        };
        if let Some(name) = ties.name
            && let Err(error) = handle.name_place(&place, name)
        {
            return Err(SpawnError::Name {
                error,
                future: HandedBack::new(function),
            });
        }
        let inbox = Inbox::new(handle.clone(), place.pid(), options.latest);
        let mail = inbox.mail();
        // It may panic, and then nobody has the place.
        let future = match catch_panic(|| function(inbox)) {
            Ok(future) => FutureProcess(future),
            Err(message) => {
                handle.vacate(&place, &ExitReason::not_started(&message));
                resume_unwind(Box::new(message));
            }
        };
        let process = process_box(InboxProcess { future, mail });
        handle.begin_future(place, process, &options, Some(&ties))
    }
}

/// Why a future, or an async function, was not spawned. Unless a hook refused, it comes back,
/// unpolled.
#[non_exhaustive]
pub enum SpawnError<P: Protocol, F> {
    /// The scheduler is shutting down, or has.
    ShutDown(HandedBack<F>),
    /// As many processes live as the scheduler was built to admit.
    LimitReached {
        /// The limit.
        limit: NonZeroUsize,
        /// What was not spawned.
        future: HandedBack<F>,
    },
    /// There is no memory for one more process.
    NoMemory(HandedBack<F>),
    /// The [name](crate::Submission::name) that it was to get is taken.
    Name {
        /// Which name, and which process has it.
        error: RegisterError,
        /// What was not spawned.
        future: HandedBack<F>,
    },
    /// The [deadline](crate::Submission::deadline) that it was to get has passed.
    DeadlinePassed(HandedBack<F>),
    /// The [hook](crate::LifeCycle::on_start) refused or panicked; the future was dropped.
    Hook(HookError<P>),
}

impl<P: Protocol, F> SpawnError<P, F> {
    fn refused(refusal: Refusal, future: F) -> Self {
        let future = HandedBack::new(future);
        match refusal {
            Refusal::Closed => Self::ShutDown(future),
            Refusal::Full(limit) => Self::LimitReached { limit, future },
            Refusal::NoMemory => Self::NoMemory(future),
        }
    }
}

impl<P: Protocol, F> fmt::Display for SpawnError<P, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShutDown(_) => {
                f.write_str("the scheduler is shutting down and takes no more futures")
            }
            Self::LimitReached { limit, .. } => {
                write!(f, "the limit of {limit} live processes is reached")
            }
            Self::NoMemory(_) => f.write_str("there is no memory for one more process"),
            Self::Name { error, .. } => error.fmt(f),
            Self::DeadlinePassed(_) => f.write_str("the deadline of the process has passed"),
            Self::Hook(error) => error.fmt(f),
        }
    }
}

error_by_display!(
    SpawnError<P: Protocol, F>,
    Self::Name { error, .. } => error,
    Self::Hook(error) => error,
);
