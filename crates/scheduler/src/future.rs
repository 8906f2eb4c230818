//! A future as a process: each step is a poll, and its waker wakes the process.

use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker, ready};

use filch_parker::{Parker, Unparker};

use crate::exit::Exit;
use crate::options::Options;
use crate::promise::{Promised, promise};
use crate::resident::Resident;
use crate::stage::{Output, StageCell};
use crate::{
    Context, Events, Handle, HookError, InitError, JoinError, Pid, Process, ProcessError,
    ProcessHandle, Protocol, StepOutput, SubmitError,
};
use filch_process_table::Refusal;
use filch_process_table::panic::{drop_all_contained, drop_contained};

impl<P: Protocol> Handle<P> {
    /// Submits a future as a process, whatever its output. Lock-free, but for memory.
    ///
    /// It is polled on the workers, one thread at a time; waking it makes the process Ready. It
    /// counts as a process: it has a PID, stands in the list of processes and in the limit, a panic
    /// in it ends it and nothing else, and a [`shutdown`](crate::Scheduler::shutdown) waits for it,
    /// and drops it when the patience is over. Messages to its PID are dropped: it has no inbox.
    /// Should somebody [upgrade](Self::upgrade) it to another process, then the future is dropped,
    /// and its handle says [`ProcessError::Terminated`] when that one has ended well, or how it
    /// failed.
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
            Err(Refusal::Full(limit)) => return Err(SpawnError::LimitReached { limit, future }),
            Err(Refusal::Closed) => return Err(SpawnError::ShutDown(future)),
        };
        let task = Arc::new(Task {
            scheduler: self.clone(),
            pid: place.0,
        });
        let stage = Arc::new(StageCell::new(future));
        let process = FutureProcess {
            stage: Arc::clone(&stage),
            waker: Waker::from(Arc::clone(&task)),
        };
        match self.begin(place, Resident::new(process), |_, _| Ok(()), &options) {
            Ok(process) => Ok(JoinHandle {
                end: End::Handle(process),
                stage,
                task,
            }),
            Err(SubmitError::Hook(error)) => Err(SpawnError::Hook(error)),
            Err(error) => unreachable!("it was admitted, and has no `init`: {error}"),
        }
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

    /// Running: it is polled once more. Ended: nothing happens, and the slot's next occupant does not
    /// hear of it.
    fn wake_by_ref(self: &Arc<Self>) {
        self.scheduler.nudge(self.pid);
    }
}

/// The process of a future: three words for its stage and its waker, so that it takes no memory of
/// its own.
struct FutureProcess<F: Future> {
    stage: Arc<StageCell<F>>,
    waker: Waker,
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
        events: Events<'_, P>,
        out: &mut StepOutput<P>,
    ) -> Result<(), P::Error> {
        // One by one: a stranger's message may panic when it is dropped.
        drop_all_contained(events);
        // SAFETY: this is the process, and it is stepped by the worker that has it.
        match unsafe {
            self.stage
                .poll(&mut std::task::Context::from_waker(&self.waker))
        } {
            Poll::Pending => out.pending(),
            Poll::Ready(()) => out.end(),
        }
        Ok(())
    }
}

impl<F: Future> Drop for FutureProcess<F> {
    /// Whoever has the handle may keep it for long: the future goes with the process, and only an
    /// output stays.
    fn drop(&mut self) {
        // SAFETY: as in `step`; and this is the last time.
        unsafe { self.stage.give_up() };
    }
}

/// A [spawned](Handle::spawn) future, to whoever wants its output: await it, or
/// [`join`](Self::join) it. Dropping it lets the future go on unwatched.
///
/// What the future did happens before its output is seen. Until it is awaited, joined or dropped,
/// this keeps the process's place in the table, as a [`ProcessHandle`] does; and as long as it is
/// there, the memory that the future had.
#[must_use = "dropping it is fine, but says that nobody will learn how the future ended"]
pub struct JoinHandle<P: Protocol, T> {
    end: End<P>,
    stage: Arc<dyn Output<T>>,
    task: Arc<Task<P>>,
}

/// How the handle learns of the end.
enum End<P: Protocol> {
    /// Nobody has asked before the end.
    Handle(ProcessHandle<P>),
    /// Somebody awaits it.
    Awaited(Promised<Exit<P>>),
    /// It has been told.
    Told,
}

impl<P: Protocol> End<P> {
    /// The process's handle, unless somebody awaits the end: that is the last time that it is had.
    fn ask(&mut self) -> Result<ProcessHandle<P>, &mut Self> {
        match std::mem::replace(self, Self::Told) {
            Self::Handle(process) => Ok(process),
            awaited => {
                *self = awaited;
                Err(self)
            }
        }
    }

    /// The exit, or who is woken by it. The first one who must wait pays for that.
    fn poll(&mut self, context: &mut std::task::Context<'_>) -> Poll<Exit<P>> {
        if let Ok(process) = self.ask() {
            if process.has_ended() {
                return Poll::Ready(told(process));
            }
            let (resolver, promised) = promise();
            process.watch(|exit| resolver.resolve(exit));
            *self = Self::Awaited(promised);
        }
        let Self::Awaited(promised) = self else {
            panic!("polled again after it was ready");
        };
        let exit = ready!(Pin::new(promised).poll(context));
        *self = Self::Told;
        Poll::Ready(exit)
    }
}

/// Waits for the exit of a process that has ended, or that this thread may wait for.
fn told<P: Protocol>(process: ProcessHandle<P>) -> Exit<P> {
    process
        .exit_until(None)
        .unwrap_or_else(|error| unreachable!("it may wait, and as long as it takes: {error}"))
}

impl<P: Protocol, T> JoinHandle<P, T> {
    /// The PID of the future's process.
    pub fn pid(&self) -> Pid {
        self.task.pid
    }

    /// Whether the future has ended, so that awaiting it would not wait.
    pub fn has_ended(&self) -> bool {
        match &self.end {
            End::Handle(process) => process.has_ended(),
            End::Awaited(promised) => promised.is_resolved(),
            End::Told => true,
        }
    }

    /// Has the future dropped, where it is suspended, and its process end with
    /// [`ProcessError::Terminated`]. One that is being polled is dropped after that, or has ended
    /// by it; one that has ended stays so. Lock-free.
    pub fn abort(&self) {
        // Refused: it has ended.
        let _ = self.task.scheduler.terminate(self.task.pid);
    }

    /// Waits until the future has ended, and returns its output. Blocking.
    ///
    /// # Errors
    /// [`JoinError::Process`] if it panicked, was aborted, or had not ended when the scheduler was
    /// shut down; [`JoinError::CalledFromInside`], with the handle, on a worker of the same
    /// scheduler when it has not ended: await it there.
    ///
    /// # Panics
    /// If it was polled to its end before.
    pub fn join(mut self) -> Result<T, JoinError<P, Self>> {
        if self.task.scheduler.is_worker() && !self.has_ended() {
            return Err(JoinError::CalledFromInside(self));
        }
        let exit = match self.end.ask() {
            Ok(process) => told(process),
            Err(end) => {
                let parker = Parker::new();
                let waker = Waker::from(Arc::new(Awake(parker.unparker())));
                let mut context = std::task::Context::from_waker(&waker);
                loop {
                    if let Poll::Ready(exit) = end.poll(&mut context) {
                        break exit;
                    }
                    parker.park();
                }
            }
        };
        // SAFETY: this is the process's exit.
        unsafe { self.output(exit) }.map_err(JoinError::Process)
    }

    /// What comes of the exit.
    ///
    /// # Safety
    /// It is the exit of the future's process.
    unsafe fn output(&self, exit: Exit<P>) -> Result<T, ProcessError<P>> {
        // SAFETY: the caller has the exit.
        let output = unsafe { self.stage.take() };
        // What is left over is dropped here, and yet not the caller's: a panic in there must not
        // hide how it ended.
        match exit {
            Ok(another) => {
                drop_contained(another);
                // Without an output: somebody has replaced its process by another one. See
                // `Handle::upgrade`.
                output.ok_or(ProcessError::Terminated)
            }
            Err(error) => {
                drop_contained(output);
                Err(error)
            }
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
        let exit = ready!(self.end.poll(context));
        // SAFETY: this is the process's exit.
        Poll::Ready(unsafe { self.output(exit) })
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
