//! The handle to a spawned future: join it, or await it.

use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use filch_parker::block_on;
use filch_sync::panic::drop_contained;

use crate::api::pinned::Pinned;
use crate::api::process_error::{Exit, Outcome};
use crate::future::join_state::JoinState;
use crate::{JoinError, Pid, ProcessError, Protocol};

/// The handle to a [spawned](crate::Handle::spawn) future: await it, or [`join`](Self::join) it.
/// Dropping it lets the future go on unwatched.
///
/// An output that nobody takes is dropped with the handle, or at the end of the future if that
/// comes later. A panic of its destructor is contained, as it is for a
/// [`ProcessHandle`](crate::ProcessHandle).
///
/// What the future did happens before its output is seen. This keeps the process's place in the
/// table until it is dropped; so do clones of the future's waker.
#[must_use = "dropping it is fine, but says that nobody will learn how the future ended"]
pub struct JoinHandle<P: Protocol, T> {
    state: JoinState<P>,
    process: Pinned<P>,
    output: PhantomData<fn() -> T>,
}

impl<P: Protocol, T> JoinHandle<P, T> {
    /// There is one handle to a future, whose output is a `T`.
    pub(crate) fn new(process: Pinned<P>) -> Self {
        Self {
            state: JoinState::Asks,
            process,
            output: PhantomData,
        }
    }

    /// The PID of the future's process.
    pub fn pid(&self) -> Pid {
        self.process.pid()
    }

    /// Whether the future has ended, so that awaiting it would not wait.
    pub fn has_ended(&self) -> bool {
        match &self.state {
            JoinState::Asks => self.process.life().is_set(),
            JoinState::Awaited(awaited) => awaited.is_over(),
            JoinState::Told => true,
        }
    }

    /// Has the future dropped, where it is suspended, and its process end with
    /// [`ProcessError::Terminated`], as if [terminated](crate::Handle::terminate). Lock-free.
    pub fn abort(&self) {
        // Refused: it has ended.
        let process = &self.process;
        let _ = process.scheduler().terminate(process.pid());
    }
}

impl<P: Protocol, T: 'static> JoinHandle<P, T> {
    /// Waits until the future has ended, and returns its output. Blocking.
    ///
    /// # Errors
    /// [`JoinError::Process`] if it did not end well; [`JoinError::CalledFromInside`], with the
    /// handle, on a worker of the same scheduler when it has not ended: await it there.
    ///
    /// # Panics
    /// If it was polled to its end before.
    pub fn join(mut self) -> Result<T, JoinError<P, Self>> {
        if self.process.scheduler().is_worker() && !self.has_ended() {
            return Err(JoinError::CalledFromInside(self));
        }
        let Self { state, process, .. } = &mut self;
        let exit = if let JoinState::Asks = state {
            // SAFETY: this is the handle, and asks once.
            unsafe { state.ask(process) }
        } else {
            // SAFETY: this is the handle.
            block_on(poll_fn(|context| unsafe { state.poll(process, context) }))
        };
        output(exit).map_err(JoinError::Process)
    }
}

/// The output that is in the exit of a future's process.
fn output<P: Protocol, T: 'static>(exit: Exit<P>) -> Result<T, ProcessError<P>> {
    match exit {
        Ok(Outcome::Future(output)) => match output.downcast() {
            Ok(output) => Ok(output),
            Err(_) => unreachable!("the output of this future is a `T`"),
        },
        // The future was replaced by another process: see `Handle::upgrade`. Its output is dropped
        // here, but is not the caller's: a panic in there must not hide how it ended.
        Ok(Outcome::Process(another)) => {
            drop_contained(another);
            Err(ProcessError::Terminated)
        }
        Err(error) => Err(*error),
    }
}

impl<P: Protocol, T> Drop for JoinHandle<P, T> {
    /// What is the user's, and nobody will take, goes with the process, or now. (A waker may keep
    /// the process's place for long.)
    fn drop(&mut self) {
        match mem::replace(&mut self.state, JoinState::Told) {
            // SAFETY: this is the handle, which has the right to the exit, and goes.
            JoinState::Asks if mem::needs_drop::<T>() => unsafe { self.process.life().let_go() },
            JoinState::Asks | JoinState::Told => {}
            JoinState::Awaited(awaited) => awaited.give_up(&self.process),
        }
        self.process.slot().handle_goes();
    }
}

impl<P: Protocol, T: 'static> Future for JoinHandle<P, T> {
    type Output = Result<T, ProcessError<P>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { state, process, .. } = &mut *self;
        // SAFETY: this is the handle.
        let exit = ready!(unsafe { state.poll(process, context) });
        Poll::Ready(output(exit))
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
