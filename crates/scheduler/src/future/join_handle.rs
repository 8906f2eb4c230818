//! The handle to a spawned future: join it, or await it.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use filch_promise::{Output, Promised, promise};
use filch_sync::panic::drop_contained;

use crate::api::joins::WakerId;
use crate::api::process_error::Exit;
use crate::api::wait::poll_until;
use crate::future::contained::Contained;
use crate::future::waker::FutureWaker;
use crate::{JoinError, Pid, ProcessError, ProcessHandle, Protocol};

/// The handle to a [spawned](crate::Handle::spawn) future: await it, or [`join`](Self::join) it.
/// Dropping it lets the future go on unwatched.
///
/// An output that nobody takes is dropped with the handle, or at the end of the future if that
/// comes later. A panic of its destructor is contained, as it is for a [`ProcessHandle`].
///
/// What the future did happens before its output is seen. This keeps the process's place in the
/// table until it is awaited, joined or dropped, and the memory of the future until it is dropped.
#[must_use = "dropping it is fine, but says that nobody will learn how the future ended"]
pub struct JoinHandle<P: Protocol, T> {
    state: JoinState<P>,
    stage: Arc<dyn Output<Contained<T>>>,
    /// Dropped behind the stage: see [`waker_clones`](filch_process_table::waker_clones).
    task: Arc<FutureWaker<P>>,
}

/// How the handle learns of the end.
enum JoinState<P: Protocol> {
    /// It was not asked before the end.
    Handle(ProcessHandle<P>),
    /// It is awaited.
    Awaited(Awaited<P>),
    /// It has been told.
    Told,
}

/// The end of a process, which a future awaits.
struct Awaited<P: Protocol> {
    /// Of the future, while the scheduler knows that it waits.
    known: Option<WakerId>,
    promised: Promised<Exit<P>>,
}

impl<P: Protocol> Awaited<P> {
    fn new(process: ProcessHandle<P>) -> Self {
        let (resolver, promised) = promise();
        process.watch(|exit| resolver.resolve(exit));
        Self {
            known: None,
            promised,
        }
    }

    fn poll(&mut self, task: &FutureWaker<P>, context: &mut Context<'_>) -> Poll<Exit<P>> {
        let waker = WakerId::of(context.waker());
        if self.known != Some(waker) {
            // Before the promise lets go of that waker.
            self.forget(task);
        }
        let exit = Pin::new(&mut self.promised).poll(context);
        if exit.is_ready() {
            self.forget(task);
        } else if self.known.is_none() {
            task.scheduler.shared.joins.insert(task.pid, waker);
            self.known = Some(waker);
        }
        exit
    }

    /// The scheduler does not know any more that the future waits.
    fn forget(&mut self, task: &FutureWaker<P>) {
        if self.known.take().is_some() {
            task.scheduler.shared.joins.remove(task.pid);
        }
    }
}

impl<P: Protocol> JoinState<P> {
    /// Takes the process's handle out, unless the end is awaited.
    fn take_handle(&mut self) -> Result<ProcessHandle<P>, &mut Self> {
        match mem::replace(self, Self::Told) {
            Self::Handle(process) => Ok(process),
            awaited => {
                *self = awaited;
                Err(self)
            }
        }
    }

    /// The exit; or leaves the waker for it, for which the first such poll allocates.
    fn poll(&mut self, task: &FutureWaker<P>, context: &mut Context<'_>) -> Poll<Exit<P>> {
        if let Ok(process) = self.take_handle() {
            if process.has_ended() {
                return Poll::Ready(exit_of(process));
            }
            *self = Self::Awaited(Awaited::new(process));
        }
        let Self::Awaited(awaited) = self else {
            panic!("polled again after it was ready");
        };
        let exit = ready!(awaited.poll(task, context));
        *self = Self::Told;
        Poll::Ready(exit)
    }
}

/// Waits for the exit of a process that has ended, or that this thread may wait for.
fn exit_of<P: Protocol>(process: ProcessHandle<P>) -> Exit<P> {
    process
        .exit_until(None)
        .unwrap_or_else(|error| unreachable!("it may wait, and as long as it takes: {error}"))
}

impl<P: Protocol, T> JoinHandle<P, T> {
    /// # Safety
    /// `process` is the process of the future whose stage this is.
    pub(crate) unsafe fn new(
        process: ProcessHandle<P>,
        stage: Arc<dyn Output<Contained<T>>>,
        task: Arc<FutureWaker<P>>,
    ) -> Self {
        let state = JoinState::Handle(process);
        Self { state, stage, task }
    }

    /// The PID of the future's process.
    pub fn pid(&self) -> Pid {
        self.task.pid
    }

    /// Whether the future has ended, so that awaiting it would not wait.
    pub fn has_ended(&self) -> bool {
        match &self.state {
            JoinState::Handle(process) => process.has_ended(),
            JoinState::Awaited(awaited) => awaited.promised.is_resolved(),
            JoinState::Told => true,
        }
    }

    /// Has the future dropped, where it is suspended, and its process end with
    /// [`ProcessError::Terminated`], as if [terminated](crate::Handle::terminate). Lock-free.
    pub fn abort(&self) {
        // Refused: it has ended.
        let _ = self.task.scheduler.terminate(self.task.pid);
    }

    /// Waits until the future has ended, and returns its output. Blocking.
    ///
    /// # Errors
    /// [`JoinError::Process`] if it did not end well; [`JoinError::CalledFromInside`], with the
    /// handle, on a worker of the same scheduler when it has not ended: await it there.
    ///
    /// # Panics
    /// If it was polled to its end before.
    pub fn join(mut self) -> Result<T, JoinError<P, Self>> {
        if self.task.scheduler.is_worker() && !self.has_ended() {
            return Err(JoinError::CalledFromInside(self));
        }
        let exit = match self.state.take_handle() {
            Ok(process) => exit_of(process),
            Err(state) => poll_until(None, |context| state.poll(&self.task, context))
                .unwrap_or_else(|| unreachable!("there is no deadline")),
        };
        // SAFETY: this is the process's exit.
        unsafe { self.output(exit) }.map_err(JoinError::Process)
    }

    /// The output that goes with the exit.
    ///
    /// # Safety
    /// It is the exit of the future's process.
    unsafe fn output(&self, exit: Exit<P>) -> Result<T, ProcessError<P>> {
        // SAFETY: the caller has the exit, and the stage is that of its process (see `new`).
        let output = unsafe { self.stage.take() };
        // What is left over is dropped here, but is not the caller's: a panic in there must not
        // hide how it ended.
        match exit {
            Ok(another) => {
                drop_contained(another);
                // Without an output: its process was replaced by another one. See
                // `Handle::upgrade`.
                output
                    .map(Contained::into_inner)
                    .ok_or(ProcessError::Terminated)
            }
            Err(error) => Err(error),
        }
    }
}

impl<P: Protocol, T> Drop for JoinHandle<P, T> {
    /// An exit that has come, and that nobody has asked for, may hold what is the user's: that of a
    /// process that has replaced the future. A [`ProcessHandle`] contains it by itself.
    fn drop(&mut self) {
        if let JoinState::Awaited(mut awaited) = mem::replace(&mut self.state, JoinState::Told) {
            awaited.forget(&self.task);
            drop_contained(awaited.promised);
        }
    }
}

impl<P: Protocol, T> Future for JoinHandle<P, T> {
    type Output = Result<T, ProcessError<P>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let exit = ready!(this.state.poll(&this.task, context));
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
