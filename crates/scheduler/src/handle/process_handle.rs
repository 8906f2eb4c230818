//! The handle to one process, by which one caller learns its exit.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use filch_parker::poll_until;

use crate::process::error::{Exit, Outcome};
use crate::table::pid::Pid;
use crate::table::pinned::Pinned;
use crate::{CalledFromInside, ProcessError, Protocol};

/// Extracts the exit of a process that is no future.
pub(crate) fn with_output<P: Protocol>(exit: Exit<P>) -> Result<P::Output, ProcessError<P>> {
    match exit {
        Ok(Outcome::Output(output)) => Ok(output),
        // Whoever has it say `done_with` knows that this handle cannot return it.
        Ok(Outcome::Other(_)) => Err(ProcessError::Terminated),
        Err(error) => Err(*error),
    }
}

/// The handle to a submitted process, by which one caller learns how it ended. Dropping it leaves
/// the process running.
///
/// It keeps the process's slot in the table, with the exit in it, until it is dropped.
#[must_use = "dropping it is fine, but says that nobody will learn how the process ended"]
pub struct ProcessHandle<P: Protocol> {
    process: Pinned<P>,
    /// Set once it has given up its right to the exit.
    is_told: bool,
}

impl<P: Protocol> ProcessHandle<P> {
    /// Makes the one handle to a process.
    pub(crate) fn new(process: Pinned<P>) -> Self {
        let is_told = false;
        Self { process, is_told }
    }

    /// Returns the process's PID.
    pub fn pid(&self) -> Pid {
        self.process.pid()
    }

    /// Checks if the process has ended, so that [`join`](Self::join) would not wait.
    pub fn has_ended(&self) -> bool {
        self.process.slot().life.is_set()
    }

    /// [Terminates](crate::Handle::terminate) the process, if it has not ended.
    pub fn terminate(&self) {
        let _ = self.process.scheduler().terminate(self.pid());
    }

    /// Blocks until the process has ended, and returns its output. If the process is the next one
    /// in the global run queue, and a worker is idle, the calling thread takes its steps, as in
    /// `execute`.
    ///
    /// The process's acts, on any thread, happen before the return.
    ///
    /// # Errors
    /// [`JoinError::Process`] if it did not end well; [`JoinError::CalledFromInside`], with the
    /// handle, on a worker of the same scheduler when the process has not ended. Such a caller uses
    /// [`on_exit`](Self::on_exit) or [`follow`](crate::Completion::follow).
    pub fn join(self) -> Result<P::Output, JoinError<P>> {
        self.join_until(None)
    }

    /// As [`join`](Self::join), if the process has ended. Never waits.
    ///
    /// # Errors
    /// [`JoinError::NotYet`], with the handle, if it has not; [`JoinError::Process`] if it did not
    /// end well.
    pub fn try_join(self) -> Result<P::Output, JoinError<P>> {
        if self.has_ended() {
            self.join_until(None)
        } else {
            Err(JoinError::NotYet(self))
        }
    }

    /// As [`join`](Self::join), for at most `timeout`. Takes no steps, as they might last longer.
    ///
    /// # Errors
    /// [`JoinError::NotYet`], with the handle, if the process had not ended by then; else as
    /// [`join`](Self::join).
    pub fn join_timeout(self, timeout: Duration) -> Result<P::Output, JoinError<P>> {
        // A deadline that the clock cannot express never comes.
        self.join_until(Instant::now().checked_add(timeout))
    }

    /// Calls `call` once with the exit, when the process has ended: on the worker that ends it,
    /// where it should be short, and its panic is lost; or here, if it has ended already. The
    /// process's acts happen before the call.
    pub fn on_exit(
        mut self,
        call: impl FnOnce(Result<P::Output, ProcessError<P>>) + Send + 'static,
    ) {
        self.ask();
        let call = Box::new(|exit| call(with_output(exit)));
        // SAFETY: this is the handle, and it is used up.
        unsafe { self.process.slot().life.leave(Some(call)) };
    }

    fn join_until(mut self, deadline: Option<Instant>) -> Result<P::Output, JoinError<P>> {
        match self.wait(deadline) {
            Some(exit) => with_output(exit).map_err(JoinError::Process),
            None if deadline.is_some() && !self.process.scheduler().is_worker() => {
                Err(JoinError::NotYet(self))
            }
            None => Err(JoinError::CalledFromInside(self)),
        }
    }

    /// Waits for the exit, until the `deadline` if there is one. Returns `None` at once on a worker
    /// of the same scheduler, which would wait for itself, if the process has not ended.
    fn wait(&mut self, deadline: Option<Instant>) -> Option<Exit<P>> {
        if self.has_ended() {
            // Without a poll, which moves the exit more often.
            self.ask();
            // SAFETY: the process has ended, by the Acquire in `has_ended`; the exit is the
            // handle's, which has not asked before: `ask` would have panicked.
            return Some(unsafe { self.process.slot().life.take() });
        }
        let scheduler = self.process.scheduler();
        if scheduler.is_worker() {
            return None;
        }
        if deadline.is_none() {
            scheduler.shared().processors.help(&self.process);
        }
        let exit = poll_until(deadline, poll_fn(|context| self.poll_exit(context)));
        self.forget();
        exit
    }

    /// Polls for the exit of a process that may have ended with [any
    /// output](crate::StepOutput::done_with).
    ///
    /// # Panics
    /// If it is polled again after it was ready.
    pub fn poll_outcome(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Outcome<P>, ProcessError<P>>> {
        let polled = self.poll_exit(context);
        polled.map(|exit| exit.map_err(|error| *error))
    }

    /// Blocks until the process has ended, and returns its outcome. Returns `None` at once on a
    /// worker of the same scheduler, which would wait for itself, if the process has not ended.
    ///
    /// # Panics
    /// If it was polled to its end before.
    pub fn wait_outcome(&mut self) -> Option<Result<Outcome<P>, ProcessError<P>>> {
        let exit = self.wait(None)?;
        Some(exit.map_err(|error| *error))
    }

    /// Gives the output up: it is dropped when the process ends, or now, if it has ended, instead
    /// of when its slot is given back.
    pub fn discard(&mut self) {
        if !self.is_told {
            self.ask();
            // SAFETY: this is the handle, and gives the right to the exit up.
            unsafe { self.process.slot().life.leave(None) };
        }
    }

    /// Gives the right to the exit up to the caller, and takes back a waker.
    fn ask(&mut self) {
        assert!(!self.is_told, "polled again after it was ready");
        self.forget();
        self.is_told = true;
    }

    /// Takes back a waker, if there is one.
    #[inline]
    fn forget(&self) {
        if !self.is_told {
            self.process.slot().life.forget();
        }
    }

    fn poll_exit(&mut self, context: &mut Context<'_>) -> Poll<Exit<P>> {
        assert!(!self.is_told, "polled again after it was ready");
        let waker = context.waker();
        let is_own = self.process.scheduler().is_own_waker(waker);
        let life = &self.process.slot().life;
        // SAFETY: this is the handle, and has not asked.
        let exit = unsafe { life.poll(waker, is_own) };
        self.is_told = exit.is_ready();
        exit
    }
}

impl<P: Protocol> Future for ProcessHandle<P> {
    type Output = Result<P::Output, ProcessError<P>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_exit(context).map(with_output)
    }
}

impl<P: Protocol> Drop for ProcessHandle<P> {
    fn drop(&mut self) {
        self.forget();
        self.process.slot().handle_goes();
    }
}

impl<P: Protocol> fmt::Debug for ProcessHandle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessHandle")
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

/// The reason why [`join`](ProcessHandle::join) has no output. `H` is the handle, which comes back
/// unless the process has ended.
#[non_exhaustive]
pub enum JoinError<P: Protocol, H = ProcessHandle<P>> {
    /// The process did not end well.
    Process(ProcessError<P>),
    /// Called on a worker of the same scheduler, which would wait for itself.
    CalledFromInside(H),
    /// The process has not ended within the time limit.
    NotYet(H),
}

impl<P: Protocol, H> fmt::Display for JoinError<P, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(error) => error.fmt(f),
            Self::CalledFromInside(_) => CalledFromInside.fmt(f),
            Self::NotYet(_) => f.write_str("the process has not ended yet"),
        }
    }
}

impl<P: Protocol, H> JoinError<P, H> {
    /// Returns the process's own error, if it ended with one.
    pub fn failure(&self) -> Option<&P::Error> {
        match self {
            Self::Process(error) => error.failure(),
            Self::CalledFromInside(_) | Self::NotYet(_) => None,
        }
    }
}

crate::protocol::error_by_display!(JoinError<P: Protocol, H>, Self::Process(error) => error);
