//! Errors of actions.

use std::fmt;
use std::io;
use std::time::Duration;

use tonic::Code;

use super::access::AccessError;

/// The reason that an action has no result. Any exit code is a result.
#[derive(Debug)]
pub enum RunError {
    /// The action cannot be run, for this reason.
    Refused(String),
    /// The program could not be started.
    NotStarted {
        /// The action's name for it.
        program: String,
        /// The error.
        error: io::Error,
    },
    /// The action took longer than this, and was killed.
    TooLong(Duration),
    /// An output is larger than the worker's limits allow: this one.
    TooMuch(String),
    /// An output cannot be kept, for this reason.
    Output(String),
    /// Nobody waits for it any more, so it was killed.
    Cancelled,
    /// A blob could not be read or kept.
    Access(AccessError),
    /// The machine of the worker failed.
    Machine {
        /// The work that failed.
        doing: &'static str,
        /// The error.
        error: io::Error,
    },
}

impl RunError {
    pub(super) fn machine(doing: &'static str, error: io::Error) -> Self {
        Self::Machine { doing, error }
    }

    /// The code for the client.
    pub fn code(&self) -> Code {
        match self {
            Self::Refused(_) | Self::NotStarted { .. } => Code::InvalidArgument,
            Self::TooLong(_) => Code::DeadlineExceeded,
            Self::TooMuch(_) => Code::ResourceExhausted,
            Self::Cancelled => Code::Cancelled,
            Self::Output(_) | Self::Access(AccessError::Missing(_)) => Code::FailedPrecondition,
            Self::Access(AccessError::Unreachable(_)) => Code::Unavailable,
            Self::Access(AccessError::Storage(_) | AccessError::Disk(_)) => Code::Internal,
            Self::Machine { .. } => Code::Internal,
        }
    }

    /// Returns true if another worker may do better, as the action is not to blame.
    pub fn elsewhere(&self) -> bool {
        match self {
            Self::Access(error) => !matches!(error, AccessError::Missing(_)),
            Self::Machine { .. } => true,
            Self::Refused(_) | Self::NotStarted { .. } | Self::TooLong(_) => false,
            Self::TooMuch(_) | Self::Output(_) | Self::Cancelled => false,
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "the action is refused: {why}"),
            Self::NotStarted { program, error } => {
                write!(f, "the program {program:?} cannot be started: {error}")
            }
            Self::TooLong(limit) => {
                write!(f, "the action was killed: it took longer than {limit:?}")
            }
            Self::TooMuch(what) => write!(f, "the action made too much output: {what}"),
            Self::Output(why) => write!(f, "an output of the action is refused: {why}"),
            Self::Cancelled => write!(f, "the action was cancelled"),
            Self::Access(error) => error.fmt(f),
            Self::Machine { doing, error } => write!(f, "the worker cannot {doing}: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<AccessError> for RunError {
    fn from(error: AccessError) -> Self {
        Self::Access(error)
    }
}
