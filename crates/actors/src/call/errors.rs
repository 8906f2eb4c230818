//! Sending a message and waiting for its answer, as one act.

use std::fmt;
use std::time::Instant;

use filch_parker::poll_until;
use filch_scheduler::{CalledFromInside, Handle, Pid, Protocol, SendError};

use crate::call::caller::{Caller, NoAnswer};

pub(crate) fn call_until<P: Protocol, R: Send + 'static>(
    scheduler: &Handle<P>,
    to: Pid,
    deadline: Option<Instant>,
    message: impl FnOnce(Caller<R>) -> P::Message,
) -> Result<R, CallError<P>> {
    let (caller, answer) = Caller::new();
    let message = message(caller);
    if scheduler.is_worker() {
        return Err(CallError::CalledFromInside(message));
    }
    let sent = match deadline {
        // A guest's step may take longer than the caller would wait.
        Some(_) => scheduler.send(to, message),
        None => scheduler.send_as_guest(to, message, || answer.is_ready()),
    };
    sent.map_err(CallError::Send)?;
    match poll_until(deadline, answer) {
        Some(answer) => answer.map_err(CallError::from),
        None => Err(CallError::NotYet),
    }
}

impl<P: Protocol> From<NoAnswer> for CallError<P> {
    fn from(NoAnswer: NoAnswer) -> Self {
        Self::Abandoned
    }
}

/// The reason why a [call](crate::HandleExt::call) has no answer.
#[non_exhaustive]
pub enum CallError<P: Protocol> {
    /// The message was not delivered, and comes back. Nobody waits for its [`Caller`] any more.
    Send(SendError<P>),
    /// Called on a worker of the same scheduler, which would wait for itself. The message, which
    /// was not sent, comes back.
    CalledFromInside(P::Message),
    /// The [`Caller`] was dropped without an answer: the process has ended, or forgot it.
    Abandoned,
    /// The time limit has passed without an answer.
    NotYet,
    /// A process has [called](crate::StepOutputExt::call) itself, and might have waited for ever.
    /// The message, which was not sent, comes back.
    ToItself(P::Message),
    /// The timers of the [limit](crate::StepOutputExt::call_by) are shut down. The message, which
    /// was not sent, comes back.
    TimersClosed(P::Message),
}

impl<P: Protocol> fmt::Display for CallError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send(error) => error.fmt(f),
            Self::CalledFromInside(_) => CalledFromInside.fmt(f),
            Self::Abandoned => f.write_str(
                "the caller was dropped without an answer: the process has ended, or forgot it",
            ),
            Self::NotYet => f.write_str("the process has not answered yet"),
            Self::ToItself(_) => f.write_str(
                "the process has called itself, and would wait for its own answer: send it a \
                 message instead",
            ),
            Self::TimersClosed(_) => f.write_str("the timers of the call's limit are shut down"),
        }
    }
}

impl<P: Protocol> fmt::Debug for CallError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallError({self})")
    }
}

impl<P: Protocol> std::error::Error for CallError<P> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Send(error) => Some(error),
            _ => None,
        }
    }
}
