//! A future as a process: each step is a poll, and its waker wakes the process.

use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Poll, Wake, Waker};

use filch_parker::{Parker, Unparker};
use filch_sync::Mutex;

use crate::admission::Refusal;
use crate::options::Options;
use crate::promise::{Promised, promise};
use crate::resident::Resident;
use crate::{
    Context, Events, Handle, HookError, InitError, JoinError, Pid, Process, ProcessError, Protocol,
    StepOutput, SubmitError,
};

impl<P: Protocol> Handle<P> {
    /// Submits a future as a process, whatever its output. Lock-free, but for memory.
    ///
    /// It is polled on the workers, one thread at a time; waking it makes the process Ready. It counts as a process: it has
    /// a PID, stands in the list of processes and in the limit, a panic in it ends it and nothing else, and a
    /// [`shutdown`](crate::Scheduler::shutdown) waits for it, and drops it when the patience is over. Messages to its PID are
    /// dropped: it has no inbox. Should somebody [upgrade](Self::upgrade) it to another process, then the future is dropped, and
    /// its handle says [`ProcessError::Terminated`] when that one ends.
    ///
    /// ```
    /// # enum Any {}
    /// # impl filch_scheduler::Protocol for Any {
    /// #     type Input = (); type Message = (); type Command = (); type Reply = (); type Output = (); type Error = String;
    /// # }
    /// # use filch_scheduler::Scheduler;
    /// let scheduler = Scheduler::<Any>::builder().workers(2).build()?;
    /// let answer = scheduler.spawn(async { 6 * 7 })?;
    /// let asked = scheduler.spawn(async { answer.await.map(|answer| format!("It is {answer}.")) })?;
    /// assert_eq!(asked.join()??, "It is 42.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SpawnError`], with the future, if the scheduler is shut down or full.
    pub fn spawn<F>(&self, future: F) -> Result<JoinHandle<P, F::Output>, SpawnError<P, F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let options = Options::default();
        let place = match self.admit(&options) {
            Ok(place) => place,
            Err(Refusal::Closed) => return Err(SpawnError::ShutDown(future)),
            Err(Refusal::Full(limit)) => return Err(SpawnError::LimitReached { limit, future }),
        };
        let (resolver, promised) = promise();
        let task = Arc::new(Task {
            scheduler: self.clone(),
            pid: place.0,
        });
        let output = Arc::new(Mutex::new(None));
        let process = Box::new(FutureProcess {
            future,
            waker: Waker::from(Arc::clone(&task)),
            output: Arc::clone(&output),
        });
        let process = match self.begin(place, Resident::boxed(process), |_, _| Ok(()), &options) {
            Ok(process) => process,
            Err(SubmitError::Hook(error)) => return Err(SpawnError::Hook(error)),
            Err(error) => unreachable!("it was admitted, and has no `init`: {error}"),
        };
        // Not by the last step: who has joined it finds its place free, as with any process.
        process.watch(move |exit| {
            let output = output.lock().unwrap_or_else(PoisonError::into_inner).take();
            resolver.resolve(match (exit, output) {
                (Ok(_), Some(output)) => Ok(output),
                // Somebody has replaced its process by another one: see `Handle::upgrade`.
                (Ok(_), None) => Err(ProcessError::Terminated),
                (Err(error), _) => Err(error),
            });
        });
        Ok(JoinHandle { promised, task })
    }
}

/// What wakes a future: its name.
struct Task<P: Protocol> {
    scheduler: Handle<P>,
    pid: Pid,
}

impl<P: Protocol> Wake for Task<P> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Running: it is polled once more. Ended: nothing happens, and the slot's next tenant does not hear of it.
    fn wake_by_ref(self: &Arc<Self>) {
        self.scheduler.nudge(self.pid);
    }
}

/// Lives in the box that `spawn` makes, and is never moved out of it: that pins the future.
struct FutureProcess<F: Future> {
    future: F,
    waker: Waker,
    output: Arc<Mutex<Option<F::Output>>>,
}

impl<P: Protocol, F> Process<P> for FutureProcess<F>
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
        _: Events<'_, P>,
        out: &mut StepOutput<P>,
    ) -> Result<(), P::Error> {
        // SAFETY: `self` is in a box that only the process table holds, as a `dyn Process`, and that is dropped as a whole: the
        // future stays where it is until its destructor has run.
        let future = unsafe { Pin::new_unchecked(&mut self.future) };
        match future.poll(&mut std::task::Context::from_waker(&self.waker)) {
            Poll::Pending => out.pending(),
            Poll::Ready(output) => {
                let mut place = self.output.lock().unwrap_or_else(PoisonError::into_inner);
                *place = Some(output);
                out.end();
            }
        }
        Ok(())
    }
}

/// A [spawned](Handle::spawn) future, to whoever wants its output: await it, or [`join`](Self::join) it. Dropping it
/// lets the future go on unwatched.
///
/// What the future did happens before its output is seen.
#[must_use = "dropping it is fine, but says that nobody will learn how the future ended"]
pub struct JoinHandle<P: Protocol, T> {
    promised: Promised<Result<T, ProcessError<P>>>,
    task: Arc<Task<P>>,
}

impl<P: Protocol, T> JoinHandle<P, T> {
    /// The PID of the future's process.
    pub fn pid(&self) -> Pid {
        self.task.pid
    }

    /// Whether the future has ended, so that awaiting it would not wait.
    pub fn has_ended(&self) -> bool {
        self.promised.is_resolved()
    }

    /// Has the future dropped, where it is suspended, and its process end with [`ProcessError::Terminated`]. One that is
    /// being polled is dropped after that, or has ended by it; one that has ended stays so. Lock-free.
    pub fn abort(&self) {
        // Refused: it has ended.
        let _ = self.task.scheduler.terminate(self.task.pid);
    }

    /// Waits until the future has ended, and returns its output. Blocking.
    ///
    /// # Errors
    /// [`JoinError::Process`] if it panicked, was aborted, or had not ended when the scheduler was shut down;
    /// [`JoinError::CalledFromInside`], with the handle, on a worker of the same scheduler when it has not ended: await it
    /// there.
    ///
    /// # Panics
    /// If it was polled to its end before.
    pub fn join(mut self) -> Result<T, JoinError<P, Self>> {
        if self.task.scheduler.is_worker() && !self.has_ended() {
            return Err(JoinError::CalledFromInside(self));
        }
        let parker = Parker::new();
        let waker = Waker::from(Arc::new(Awake(parker.unparker())));
        let mut context = std::task::Context::from_waker(&waker);
        loop {
            if let Poll::Ready(exit) = Pin::new(&mut self.promised).poll(&mut context) {
                return exit.map_err(JoinError::Process);
            }
            parker.park();
        }
    }
}

/// Wakes a thread.
struct Awake(Unparker);

impl Wake for Awake {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl<P: Protocol, T> Future for JoinHandle<P, T> {
    type Output = Result<T, ProcessError<P>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.promised).poll(context)
    }
}

impl<P: Protocol, T> fmt::Debug for JoinHandle<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("pid", &self.task.pid)
            .field("ended", &self.has_ended())
            .finish_non_exhaustive()
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
            Self::Hook(error) => error.fmt(f),
        }
    }
}

impl<P: Protocol, F> fmt::Debug for SpawnError<P, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpawnError({self})")
    }
}

impl<P: Protocol, F> std::error::Error for SpawnError<P, F> {}
