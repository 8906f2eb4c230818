//! Futures submitted as processes.

use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;

use filch_process_table::{Mailbox, Refusal};

use crate::api::submission::Options;
use crate::future::process::FutureProcess;
use crate::protocol::error_by_display;
use crate::table::body::process_box;
use crate::{Handle, HookError, JoinHandle, Protocol, SubmitError};

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
        let place = match self.admit(&options) {
            Ok(place) => place,
            Err(Refusal::Closed) => return Err(SpawnError::ShutDown(future)),
            Err(Refusal::Full(limit)) => return Err(SpawnError::LimitReached { limit, future }),
            Err(Refusal::NoMemory) => return Err(SpawnError::NoMemory(future)),
        };
        let process = process_box(FutureProcess(future));
        match self.begin(&place, process, |_, _| Ok(()), &options) {
            Ok(()) => Ok(JoinHandle::new(place)),
            Err(SubmitError::Hook(error)) => Err(SpawnError::Hook(error)),
            Err(error) => unreachable!("it was admitted, and has no `init`: {error}"),
        }
    }
}

/// Why a future was not spawned. Unless a hook refused, it comes back, unpolled.
#[non_exhaustive]
pub enum SpawnError<P: Protocol, F> {
    /// The scheduler is shutting down, or has.
    ShutDown(F),
    /// As many processes live as the scheduler was built to admit.
    LimitReached {
        /// The limit.
        limit: NonZeroUsize,
        /// What was not spawned.
        future: F,
    },
    /// There is no memory for one more process.
    NoMemory(F),
    /// The [hook](crate::LifeCycle::on_start) refused or panicked; the future was dropped.
    Hook(HookError<P>),
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
            Self::Hook(error) => error.fmt(f),
        }
    }
}

error_by_display!(SpawnError<P: Protocol, F>);
