//! The errors with which a process ends.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::process::inline_box::InlineBox;
use crate::protocol::error_by_display;
use crate::{Ended, ExitReason, InitError, Pid, Protocol};

/// The exit of a process, which is moved several times: so an error, mostly larger, is boxed.
pub(crate) type Exit<P> = Result<Outcome<P>, Box<ProcessError<P>>>;

/// The outcome of a process that has ended well.
pub enum Outcome<P: Protocol> {
    /// It said [`done`](crate::StepOutput::done).
    Output(P::Output),
    /// It said [`done_with`](crate::StepOutput::done_with).
    Other(AnyOutput),
}

impl<P: Protocol> fmt::Debug for Outcome<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Output(_) => "Output(..)",
            Self::Other(_) => "Other(..)",
        })
    }
}

/// An output of a type that only its reader knows. Up to three words are kept in place.
#[derive(Debug)]
pub struct AnyOutput(pub(crate) InlineBox<dyn Any + Send, 3>);

impl AnyOutput {
    /// Borrows the output, if it is a `T`.
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }

    /// Takes the output, if it is a `T`.
    ///
    /// # Errors
    /// This, if the output is not a `T`.
    pub fn downcast<T: Any>(self) -> Result<T, Self> {
        self.0.downcast().map_err(Self)
    }
}

/// The error of a process that has not ended well.
#[non_exhaustive]
pub enum ProcessError<P: Protocol> {
    /// `step` returned this error.
    Failed(P::Error),
    /// The process [failed](crate::StepOutput::fail_with) with this error, which is not of its
    /// protocol's type.
    FunctionFailed(Box<dyn Error + Send + Sync>),
    /// `step`, `close` or the destructor panicked with this message; or so did a future. Behind it
    /// stand the process's PID; its names and its type, if that was in a step; and its entry point,
    /// if there is a journal.
    Panicked(String),
    /// The process said that it waits for commands, with none outstanding: for ever, that is.
    WaitsForNothing,
    /// The new version that was to replace it did not start.
    Upgrade(InitError<P>),
    /// It was [terminated](crate::Handle::terminate).
    Terminated,
    /// A process that it was [linked](crate::Handle::link) to, perhaps through others, did not end
    /// normally.
    Linked {
        /// The first process in the chain of links.
        origin: Pid,
        /// The reason for the end of that process.
        reason: Arc<ExitReason>,
    },
    /// The process had not ended when the patience of [`shutdown`](crate::Scheduler::shutdown) had.
    ShutDown,
}

impl<P: Protocol> ProcessError<P> {
    /// Returns the process's own error, if it ended with one. (An async function's, of any type, is
    /// the [`source`](Error::source).)
    pub fn failure(&self) -> Option<&P::Error> {
        match self {
            Self::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the reason that others are told.
    pub fn reason(&self) -> ExitReason {
        match self {
            Self::Failed(error) => ExitReason::failed(error),
            Self::FunctionFailed(error) => ExitReason::failed(error),
            Self::Panicked(message) => ExitReason::Panicked(message.as_str().into()),
            Self::Upgrade(_) => ExitReason::failed(self),
            Self::WaitsForNothing => ExitReason::WaitsForNothing,
            Self::ShutDown => ExitReason::ShutDown,
            Self::Terminated => ExitReason::Terminated,
            Self::Linked { origin, reason } => ExitReason::Linked {
                origin: *origin,
                reason: Arc::clone(reason),
            },
        }
    }
}

/// Makes the error of a process that was linked to this one and does not trap exits.
impl<P: Protocol> From<Ended> for ProcessError<P> {
    fn from(ended: Ended) -> Self {
        match ended.reason {
            ExitReason::Linked { origin, reason } => Self::Linked { origin, reason },
            reason => Self::Linked {
                origin: ended.pid,
                reason: Arc::new(reason),
            },
        }
    }
}

impl<P: Protocol> fmt::Display for ProcessError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => write!(f, "the process failed: {error}"),
            Self::FunctionFailed(error) => write!(f, "the process failed: {error}"),
            Self::Panicked(message) => write!(f, "the process panicked: {message}"),
            Self::WaitsForNothing => f.write_str(
                "the process waits for commands but has none outstanding: yield one before `wait`, \
                 or be `idle` to await messages",
            ),
            Self::Upgrade(error) => write!(f, "the new version did not start: {error}"),
            Self::Terminated => f.write_str("the process was terminated"),
            Self::Linked { origin, reason } => write!(
                f,
                "the process ended with one that it was linked to, {origin}, which: {reason}"
            ),
            Self::ShutDown => f.write_str("the process had not ended when the scheduler shut down"),
        }
    }
}

error_by_display!(
    ProcessError<P: Protocol>,
    Self::FunctionFailed(error) => &**error,
    Self::Upgrade(error) => error,
);
