//! The handle to one process: how it ended, for one caller.

use std::fmt;
use std::time::{Duration, Instant};

use filch_process_table::Pid;

use crate::api::pinned::Pinned;
use crate::api::process_error::{Exit, Outcome};
use crate::{CalledFromInside, ProcessError, Protocol};

/// The exit of a process that is no future.
pub(crate) fn with_output<P: Protocol>(exit: Exit<P>) -> Result<P::Output, ProcessError<P>> {
    match exit {
        Ok(Outcome::Process(output)) => Ok(output),
        Ok(Outcome::Future(_)) => unreachable!("a future has another handle"),
        Err(error) => Err(*error),
    }
}

/// The handle to a submitted process, by which one caller learns how it ended. Dropping it lets the
/// process go on unwatched.
///
/// It keeps the process's place in the table, where the exit is left, until it is dropped.
#[must_use = "dropping it is fine, but says that nobody will learn how the process ended"]
pub struct ProcessHandle<P: Protocol>(Pinned<P>);

impl<P: Protocol> ProcessHandle<P> {
    /// There is one handle to a process.
    pub(crate) fn new(pinned: Pinned<P>) -> Self {
        Self(pinned)
    }

    /// The pin, and with it the right to the exit.
    pub(crate) fn into_pinned(self) -> Pinned<P> {
        self.0
    }

    /// The process's PID.
    pub fn pid(&self) -> Pid {
        self.0.pid()
    }

    /// Whether the process has ended, so that [`join`](Self::join) would not wait.
    pub fn has_ended(&self) -> bool {
        self.0.life().is_set()
    }

    /// Waits until the process has ended, and says how. Blocking. If the process is the next one in
    /// the global run queue, and a worker is idle, the calling thread takes its steps, as in
    /// [`execute`](crate::Handle::execute).
    ///
    /// What the process did, on whichever thread, happens before the return.
    ///
    /// # Errors
    /// [`JoinError::Process`] if it did not end well; [`JoinError::CalledFromInside`], with the
    /// handle, on a worker of the same scheduler when the process has not ended. Such a caller uses
    /// [`on_exit`](Self::on_exit) or [`Completion::execute`](crate::Completion::execute).
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

    /// As [`join`](Self::join), for at most that long. Takes no steps: they might last longer.
    ///
    /// # Errors
    /// [`JoinError::NotYet`], with the handle, if the process had not ended by then; else as
    /// [`join`](Self::join).
    pub fn join_timeout(self, timeout: Duration) -> Result<P::Output, JoinError<P>> {
        // A deadline that the clock cannot express never comes.
        self.join_until(Instant::now().checked_add(timeout))
    }

    /// As [`join`](Self::join), until the `deadline` at most.
    ///
    /// # Errors
    /// As [`join_timeout`](Self::join_timeout).
    pub fn join_deadline(self, deadline: Instant) -> Result<P::Output, JoinError<P>> {
        self.join_until(Some(deadline))
    }

    /// Has `call` called with the exit, once, when the process has ended: on the worker that ends
    /// it, where it should be short, and a panic is lost; or here, if it has ended already. What
    /// the process did happens before the call.
    pub fn on_exit(self, call: impl FnOnce(Result<P::Output, ProcessError<P>>) + Send + 'static) {
        // SAFETY: this is the handle, and it is used up.
        unsafe { self.0.watch(|exit| call(with_output(exit))) };
    }

    fn join_until(self, deadline: Option<Instant>) -> Result<P::Output, JoinError<P>> {
        if self.0.scheduler().is_worker() && !self.has_ended() {
            return Err(JoinError::CalledFromInside(self));
        }
        // SAFETY: this is the handle, and unless the exit is not there it is used up.
        match unsafe { self.0.exit_until(deadline) } {
            Some(exit) => with_output(exit).map_err(JoinError::Process),
            None => Err(JoinError::NotYet(self)),
        }
    }
}

impl<P: Protocol> fmt::Debug for ProcessHandle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessHandle")
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

/// Why [`join`](ProcessHandle::join) has no output. `H` is the handle, which comes back unless the
/// process has ended.
#[non_exhaustive]
pub enum JoinError<P: Protocol, H = ProcessHandle<P>> {
    /// The process did not end well.
    Process(ProcessError<P>),
    /// Called on a worker of the same scheduler, which would wait for itself.
    CalledFromInside(H),
    /// The process has not ended, and the call was not to wait any longer.
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
    /// The process's own error, if that is how it ended.
    pub fn failure(&self) -> Option<&P::Error> {
        match self {
            Self::Process(error) => error.failure(),
            Self::CalledFromInside(_) | Self::NotYet(_) => None,
        }
    }
}

crate::protocol::error_by_display!(JoinError<P: Protocol, H>, Self::Process(error) => error);
