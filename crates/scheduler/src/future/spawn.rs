//! Futures submitted as processes.

use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::num::NonZeroUsize;
use std::ptr;
use std::sync::Arc;
use std::task::{self, Poll, Waker};

use filch_process_table::{Mailbox, Refusal, waker_clones};
use filch_promise::Stage;
use filch_sync::panic::drop_all_contained;

use crate::api::submission::Options;
use crate::future::contained::WithContained;
use crate::future::task::FutureTask;
use crate::protocol::error_by_display;
use crate::table::body::process_box;
use crate::{
    Context, Events, Handle, HookError, InitError, JoinHandle, Process, Protocol, StepOutput,
    SubmitError,
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
    /// one more process. (The piece that a future has beside its slot is not refused: see
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
        let task = Arc::new(FutureTask {
            process: place,
            stage: Stage::new(WithContained(future)),
        });
        let process = process_box(FutureProcess {
            // SAFETY: the waker beside it lives as long, and has one.
            task: unsafe { lend(&task) },
            waker: Waker::from(Arc::clone(&task)),
        });
        match self.begin(&task.process, process, |_, _| Ok(()), &options) {
            // SAFETY: there is one handle to a future.
            Ok(()) => Ok(unsafe { JoinHandle::new(task) }),
            Err(SubmitError::Hook(error)) => Err(SpawnError::Hook(error)),
            Err(error) => unreachable!("it was admitted, and has no `init`: {error}"),
        }
    }
}

/// The process of a future: three words, so that it fits into its slot.
struct FutureProcess<P: Protocol, F: Future> {
    waker: Waker,
    /// What the waker is made of, and keeps: not counted here, and never dropped.
    task: ManuallyDrop<Arc<FutureTask<P, F>>>,
}

/// The same `Arc` again, not counted. (To count it takes two RMWs in the life of a future.)
///
/// # Safety
/// It is not used once the others are dropped.
unsafe fn lend<T>(arc: &Arc<T>) -> ManuallyDrop<Arc<T>> {
    // SAFETY: an `Arc` is what it points to, and has no destructor here.
    ManuallyDrop::new(unsafe { ptr::read(arc) })
}

impl<P: Protocol, F> Process<P> for FutureProcess<P, F>
where
    F: Future + Send,
    F::Output: Send,
{
    fn init(&mut self, _: &Context<'_, P>, _: &str, _: P::Input) -> Result<(), InitError<P>> {
        unreachable!("a future is admitted without")
    }

    fn step(
        &mut self,
        _: &Context<'_, P>,
        events: Events<'_, P>,
        out: &mut StepOutput<P>,
    ) -> Result<(), P::Error> {
        // None of these means anything to a future: what is watched has ended, the shutdown.
        drop_all_contained(events);
        let mut context = task::Context::from_waker(&self.waker);
        // SAFETY: this is the process, and it is stepped by the worker that has it.
        match unsafe { self.task.stage.poll(&mut context) } {
            Poll::Pending => out.pending(),
            Poll::Ready(()) => out.end(),
        }
        Ok(())
    }

    fn waker(&self) -> Option<(&Waker, usize)> {
        let clones = waker_clones(
            1,
            || Arc::strong_count(&self.task),
            || self.task.stage.has_taker(),
        );
        Some((&self.waker, clones))
    }
}

impl<P: Protocol, F: Future> Drop for FutureProcess<P, F> {
    /// The handle may be kept for long: the future goes with the process, and only an output stays.
    fn drop(&mut self) {
        // SAFETY: as in `step`; and this is the last time.
        unsafe { self.task.stage.give_up() };
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
