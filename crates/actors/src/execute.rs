//! Submitting a process and waiting for its end, as one act: of a thread, or as a command.

use std::fmt;
use std::time::Duration;

use filch_scheduler::{
    CalledFromInside, Completion, HandedBack, Handle, JoinError, Pid, Process, ProcessError,
    ProcessHandle, Protocol, Refused, SubmitError,
};

/// See [`HandleExt::execute`](crate::HandleExt::execute) and
/// [`HandleExt::execute_timeout`](crate::HandleExt::execute_timeout).
pub(crate) fn execute<P: Protocol>(
    scheduler: &Handle<P>,
    process: impl Process<P> + 'static,
    method: &str,
    input: P::Input,
    timeout: Option<Duration>,
) -> Result<P::Output, ExecuteError<P>> {
    if scheduler.is_worker() {
        let refused = HandedBack::new((Box::new(process) as _, input));
        return Err(ExecuteError::CalledFromInside(refused));
    }
    let mut submission = scheduler.submission(process, method, input);
    if timeout.is_none() {
        submission = submission.guest();
    }
    let process = submission.submit().map_err(ExecuteError::Submit)?;
    let joined = match timeout {
        Some(timeout) => process.join_timeout(timeout),
        None => process.join(),
    };
    joined.map_err(ExecuteError::not_joined)
}

/// The reason why [`execute`](crate::HandleExt::execute) has no output.
#[non_exhaustive]
pub enum ExecuteError<P: Protocol> {
    /// The process was not submitted.
    Submit(SubmitError<P>),
    /// The process ran and did not end well.
    Process(ProcessError<P>),
    /// Called on a worker of the same scheduler, which would wait for itself; nothing was
    /// submitted.
    CalledFromInside(Refused<P>),
    /// The process has not ended within the time limit.
    NotYet(ProcessHandle<P>),
}

impl<P: Protocol> ExecuteError<P> {
    /// Returns the process's own error, if it ended with one.
    pub fn failure(&self) -> Option<&P::Error> {
        match self {
            Self::Process(error) => error.failure(),
            _ => None,
        }
    }

    /// Converts the error of a thread that is no worker.
    fn not_joined(error: JoinError<P>) -> Self {
        match error {
            JoinError::Process(error) => Self::Process(error),
            JoinError::NotYet(process) => Self::NotYet(process),
            _ => {
                unreachable!("a thread is a worker only further up its stack, and it was none here")
            }
        }
    }
}

impl<P: Protocol> fmt::Display for ExecuteError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submit(error) => error.fmt(f),
            Self::Process(error) => error.fmt(f),
            Self::CalledFromInside(_) => CalledFromInside.fmt(f),
            Self::NotYet(_) => f.write_str("the process has not ended yet"),
        }
    }
}

impl<P: Protocol> fmt::Debug for ExecuteError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExecuteError({self})")
    }
}

impl<P: Protocol> std::error::Error for ExecuteError<P> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Submit(error) => Some(error),
            Self::Process(error) => Some(error),
            _ => None,
        }
    }
}

/// Submits `process` to do the command: its exit, turned into an answer by `reply`, completes it.
/// The process that yielded the command waits for it as for any other, and no worker waits at all.
/// Returns the PID of the new process, if it was submitted.
///
/// `reply` runs where the process ends, or here, if the process was not submitted. If it panics,
/// the command completes with that message. For a process that runs already:
/// [`Completion::follow`].
///
/// The example `family` of this crate shows its use.
pub fn execute_for<P: Protocol>(
    completion: Completion<P>,
    process: impl Process<P> + 'static,
    method: &str,
    input: P::Input,
    reply: impl FnOnce(Result<P::Output, ExecuteError<P>>) -> Result<P::Reply, P::Error>
    + Send
    + 'static,
) -> Option<Pid> {
    match completion.handle().submit(process, method, input) {
        Ok(child) => {
            let pid = child.pid();
            completion.follow(child, |exit| reply(exit.map_err(ExecuteError::Process)));
            Some(pid)
        }
        Err(error) => {
            completion.answer_by(|| reply(Err(ExecuteError::Submit(error))));
            None
        }
    }
}
