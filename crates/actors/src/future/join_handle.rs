//! The handle to a spawned future: join it, or await it; and the await of any process's end.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{fmt, mem};

use filch_promise::promise;
use filch_scheduler::{
    ExitReason, Handle, JoinError, Outcome, Pid, ProcessError, ProcessHandle, Protocol, Watch,
};
use filch_sync::panic::drop_contained;

/// The handle to a [spawned](crate::HandleExt::spawn) future: await it, or [`join`](Self::join) it.
/// Dropping it leaves the future running.
///
/// An output that nobody takes is dropped with the handle, or at the end of the future if that
/// comes later. A panic of its destructor is contained, as it is for a
/// [`ProcessHandle`](ProcessHandle).
///
/// The future's acts happen before its output is seen. This handle keeps the process's slot in the
/// table until it is dropped; so do clones of the future's waker.
#[must_use = "dropping it is fine, but says that nobody will learn how the future ended"]
pub struct JoinHandle<P: Protocol, T> {
    process: ProcessHandle<P>,
    output: PhantomData<fn() -> T>,
}

impl<P: Protocol, T> JoinHandle<P, T> {
    /// Makes the handle to a future whose output is a `T`.
    pub(crate) fn new(process: ProcessHandle<P>) -> Self {
        Self {
            process,
            output: PhantomData,
        }
    }

    /// Returns the PID of the future's process.
    pub fn pid(&self) -> Pid {
        self.process.pid()
    }

    /// Checks if the future has ended, so that awaiting it would not wait.
    pub fn has_ended(&self) -> bool {
        self.process.has_ended()
    }

    /// Drops the future, where it is suspended, and ends its process with
    /// [`ProcessError::Terminated`], as [`terminate`](filch_scheduler::Handle::terminate) does.
    /// Lock-free.
    pub fn abort(&self) {
        self.process.terminate();
    }
}

impl<P: Protocol, T: 'static> JoinHandle<P, T> {
    /// Blocks until the future has ended, and returns its output.
    ///
    /// # Errors
    /// [`JoinError::Process`] if it did not end well; [`JoinError::CalledFromInside`], with the
    /// handle, on a worker of the same scheduler when it has not ended: await it there.
    ///
    /// # Panics
    /// If it was polled to its end before.
    pub fn join(mut self) -> Result<T, JoinError<P, Self>> {
        match self.process.wait_outcome() {
            Some(outcome) => output(outcome).map_err(JoinError::Process),
            None => Err(JoinError::CalledFromInside(self)),
        }
    }
}

/// Extracts the output that a future's process has ended with.
fn output<P: Protocol, T: 'static>(
    outcome: Result<Outcome<P>, ProcessError<P>>,
) -> Result<T, ProcessError<P>> {
    match outcome? {
        Outcome::Other(output) => match output.downcast() {
            Ok(output) => Ok(output),
            Err(_) => unreachable!("the output of this future is a `T`"),
        },
        // The future was replaced by another process: see `Handle::upgrade`. Its output is dropped
        // here, but is not the caller's: a panic in there must not hide how it ended.
        Outcome::Output(another) => {
            drop_contained(another);
            Err(ProcessError::Terminated)
        }
    }
}

impl<P: Protocol, T> Drop for JoinHandle<P, T> {
    /// Drops an output that nobody will take, now or when the process ends: a waker may keep the
    /// process's slot for long.
    fn drop(&mut self) {
        if mem::needs_drop::<T>() {
            self.process.discard();
        }
    }
}

impl<P: Protocol, T: 'static> Future for JoinHandle<P, T> {
    type Output = Result<T, ProcessError<P>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.process.poll_outcome(context).map(output)
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

/// See [`HandleExt::ended`](crate::HandleExt::ended).
pub(crate) fn ended<P: Protocol>(
    scheduler: &Handle<P>,
    pid: Pid,
) -> impl Future<Output = ExitReason> + Send + use<P> {
    let (resolver, promised) = promise();
    let watch = scheduler.at_end(pid, |reason| resolver.resolve(reason.clone()));
    let cancel = CancelOnDrop(watch);
    async move {
        let _cancel = cancel;
        promised.await
    }
}

/// Cancels the exit callback when nobody waits any more.
struct CancelOnDrop(Watch);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
