//! The handle to a spawned future: join it, or await it.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use filch_promise::{Promised, promise};
use filch_sync::panic::drop_contained;

use crate::api::joins::WakerId;
use crate::api::pinned::Pinned;
use crate::api::process_error::Exit;
use crate::api::wait::poll_until;
use crate::future::contained::Contained;
use crate::future::task::Joinable;
use crate::{JoinError, Pid, ProcessError, Protocol};

/// The handle to a [spawned](crate::Handle::spawn) future: await it, or [`join`](Self::join) it.
/// Dropping it lets the future go on unwatched.
///
/// An output that nobody takes is dropped with the handle, or at the end of the future if that
/// comes later. A panic of its destructor is contained, as it is for a
/// [`ProcessHandle`](crate::ProcessHandle).
///
/// What the future did happens before its output is seen. This keeps the process's place in the
/// table, and the memory of the future, until it is dropped; so do clones of the future's waker.
#[must_use = "dropping it is fine, but says that nobody will learn how the future ended"]
pub struct JoinHandle<P: Protocol, T> {
    state: JoinState<P>,
    task: Arc<dyn Joinable<P, T>>,
}

/// How the handle learns of the end.
enum JoinState<P: Protocol> {
    /// It has not asked, and has the right to.
    Asks,
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
    /// # Safety
    /// The caller has the right to the process's exit, and gives it up.
    unsafe fn new(process: &Pinned<P>) -> Self {
        let (resolver, promised) = promise();
        // SAFETY: the caller's.
        unsafe { process.watch(|exit| resolver.resolve(exit)) };
        Self {
            known: None,
            promised,
        }
    }

    fn poll(&mut self, process: &Pinned<P>, context: &mut Context<'_>) -> Poll<Exit<P>> {
        let waker = WakerId::of(context.waker());
        if self.known != Some(waker) {
            // Before the promise lets go of that waker.
            self.forget(process);
        }
        let exit = Pin::new(&mut self.promised).poll(context);
        if exit.is_ready() {
            self.forget(process);
        } else if self.known.is_none() {
            let joins = &process.scheduler().shared.joins;
            joins.insert(process.pid(), waker);
            self.known = Some(waker);
        }
        exit
    }

    /// The scheduler does not know any more that the future waits.
    fn forget(&mut self, process: &Pinned<P>) {
        if self.known.take().is_some() {
            process.scheduler().shared.joins.remove(process.pid());
        }
    }
}

impl<P: Protocol> JoinState<P> {
    /// The exit; or leaves the waker for it, for which the first such poll allocates.
    ///
    /// # Safety
    /// It is the state of the handle to that process.
    unsafe fn poll(&mut self, process: &Pinned<P>, context: &mut Context<'_>) -> Poll<Exit<P>> {
        if let Self::Asks = self {
            if process.life().is_set() {
                // SAFETY: the right to the exit is given up.
                let exit = unsafe { self.ask(process) };
                return Poll::Ready(exit);
            }
            // SAFETY: as above.
            *self = Self::Awaited(unsafe { Awaited::new(process) });
        }
        let Self::Awaited(awaited) = self else {
            panic!("polled again after it was ready");
        };
        let exit = ready!(awaited.poll(process, context));
        *self = Self::Told;
        Poll::Ready(exit)
    }

    /// Waits for the exit, as long as it takes.
    ///
    /// # Safety
    /// It is the state of the handle to that process, and has the right to ask.
    unsafe fn ask(&mut self, process: &Pinned<P>) -> Exit<P> {
        *self = Self::Told;
        // SAFETY: the caller's.
        match unsafe { process.exit_until(None) } {
            Some(exit) => exit,
            None => unreachable!("it waits without a deadline"),
        }
    }
}

impl<P: Protocol, T> JoinHandle<P, T> {
    /// # Safety
    /// It is the one handle to the task's process.
    pub(crate) unsafe fn new(task: Arc<dyn Joinable<P, T>>) -> Self {
        let state = JoinState::Asks;
        Self { state, task }
    }

    fn process(&self) -> &Pinned<P> {
        self.task.process()
    }

    /// The PID of the future's process.
    pub fn pid(&self) -> Pid {
        self.process().pid()
    }

    /// Whether the future has ended, so that awaiting it would not wait.
    pub fn has_ended(&self) -> bool {
        match &self.state {
            JoinState::Asks => self.process().life().is_set(),
            JoinState::Awaited(awaited) => awaited.promised.is_resolved(),
            JoinState::Told => true,
        }
    }

    /// Has the future dropped, where it is suspended, and its process end with
    /// [`ProcessError::Terminated`], as if [terminated](crate::Handle::terminate). Lock-free.
    pub fn abort(&self) {
        // Refused: it has ended.
        let process = self.process();
        let _ = process.scheduler().terminate(process.pid());
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
        if self.process().scheduler().is_worker() && !self.has_ended() {
            return Err(JoinError::CalledFromInside(self));
        }
        let Self { state, task } = &mut self;
        let process = task.process();
        let exit = if let JoinState::Asks = state {
            // SAFETY: this is the handle, and asks once.
            unsafe { state.ask(process) }
        } else {
            // SAFETY: this is the handle.
            let exit = poll_until(None, |context| unsafe { state.poll(process, context) });
            exit.unwrap_or_else(|| unreachable!("there is no deadline"))
        };
        // SAFETY: this is the process's exit.
        unsafe { self.output(exit) }.map_err(JoinError::Process)
    }

    /// The output that goes with the exit.
    ///
    /// # Safety
    /// It is the exit of the future's process.
    unsafe fn output(&self, exit: Exit<P>) -> Result<T, ProcessError<P>> {
        // SAFETY: the caller has the exit, and it is that of the task's process.
        let output = unsafe { self.task.output().take() };
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
    /// process that has replaced the future. One that was not awaited is left in the table, which
    /// contains it by itself.
    fn drop(&mut self) {
        if let JoinState::Awaited(mut awaited) = mem::replace(&mut self.state, JoinState::Told) {
            awaited.forget(self.process());
            drop_contained(awaited.promised);
        }
        // Before its share of the task goes: see `waker_clones`.
        // SAFETY: the handle takes the output, and does not any more.
        unsafe { self.task.output().let_go() };
    }
}

impl<P: Protocol, T> Future for JoinHandle<P, T> {
    type Output = Result<T, ProcessError<P>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let process = this.task.process();
        // SAFETY: this is the handle.
        let exit = ready!(unsafe { this.state.poll(process, context) });
        // SAFETY: this is the process's exit.
        Poll::Ready(unsafe { self.output(exit) })
    }
}

impl<P: Protocol, T> fmt::Debug for JoinHandle<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("pid", &self.pid())
            .field("ended", &self.has_ended())
            .finish_non_exhaustive()
    }
}
