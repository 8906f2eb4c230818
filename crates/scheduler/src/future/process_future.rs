//! The end of a process, to be awaited.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::api::pinned::Pinned;
use crate::api::process_handle::with_output;
use crate::future::join_state::JoinState;
use crate::{Pid, ProcessError, ProcessHandle, Protocol};

/// The end of a process, to be awaited: what a [`ProcessHandle`] becomes by `.await`, in futures
/// and async functions. Dropping it lets the process go on unwatched.
///
/// What the process did happens before its output is seen.
#[must_use = "a future does nothing unless it is awaited"]
pub struct ProcessFuture<P: Protocol> {
    state: JoinState<P>,
    process: Pinned<P>,
}

impl<P: Protocol> ProcessFuture<P> {
    /// The process's PID.
    pub fn pid(&self) -> Pid {
        self.process.pid()
    }
}

/// ```
/// # enum Any {}
/// # impl filch_scheduler::Protocol for Any {
/// #     type Input = (); type Message = (); type Command = (); type Reply = ();
/// #     type Output = u64; type Error = String;
/// # }
/// # use filch_scheduler::{Scheduler, from_fn};
/// # let scheduler = Scheduler::<Any>::builder().workers(2).build()?;
/// let process = from_fn(|_, _, out| Ok(out.done(42)));
/// let process = scheduler.submit(process, "run", ())?;
/// let doubled = scheduler.spawn(async { process.await.map(|output| 2 * output) })?;
/// assert_eq!(doubled.join()??, 84);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<P: Protocol> IntoFuture for ProcessHandle<P> {
    type Output = Result<P::Output, ProcessError<P>>;
    type IntoFuture = ProcessFuture<P>;

    fn into_future(self) -> ProcessFuture<P> {
        ProcessFuture {
            state: JoinState::Asks,
            process: self.into_pinned(),
        }
    }
}

impl<P: Protocol> Future for ProcessFuture<P> {
    type Output = Result<P::Output, ProcessError<P>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { state, process } = &mut *self;
        // SAFETY: it has the right of the one handle that there was.
        unsafe { state.poll(process, context) }.map(with_output)
    }
}

impl<P: Protocol> Drop for ProcessFuture<P> {
    fn drop(&mut self) {
        if let JoinState::Awaited(awaited) = mem::replace(&mut self.state, JoinState::Told) {
            awaited.give_up(&self.process);
        }
    }
}

impl<P: Protocol> fmt::Debug for ProcessFuture<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessFuture")
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}
