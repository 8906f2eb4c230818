//! Why an action has no result.

use std::fmt;
use std::io;
use std::time::Duration;

use tonic::Code;

use super::access::AccessError;

/// Why an action has no result. An exit code is a result, whatever the code.
#[derive(Debug)]
pub enum RunError {
    /// The action itself is not one that can be run: says why.
    Refused(String),
    /// The program could not be started.
    NotStarted {
        /// What the action calls it.
        program: String,
        /// Why.
        error: io::Error,
    },
    /// The action took longer than this, and was killed.
    TooLong(Duration),
    /// There is more output than the worker's limits allow: says what.
    TooMuch(String),
    /// An output is not one that can be kept: says why.
    Output(String),
    /// Nobody waits for it any more: it was killed.
    Cancelled,
    /// A blob could not be had, or not be kept.
    Access(AccessError),
    /// The machine of the worker failed.
    Machine {
        /// What could not be done.
        doing: &'static str,
        /// Why.
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

    /// Whether another worker may do better: the action itself is not to blame.
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
