//! Errors of actions.

use std::io;
use std::time::Duration;

use thiserror::Error;
use tonic::Code;

use crate::digest::NotADigest;
use crate::storage::StorageError;

/// The reason that an action has no result. Any exit code is a result.
#[derive(Debug, Error)]
pub enum RunError {
    /// The action cannot be run, for this reason.
    #[error("the action is refused: {0}")]
    Refused(String),
    /// The program could not be started.
    #[error("the program {program:?} cannot be started: {error}")]
    NotStarted {
        /// The action's name for it.
        program: String,
        /// The error.
        error: io::Error,
    },
    /// The action took longer than this, and was killed.
    #[error("the action was killed: it took longer than {0:?}")]
    TooLong(Duration),
    /// An output is larger than the worker's limits allow: this one.
    #[error("the action made too much output: {0}")]
    TooMuch(String),
    /// An output cannot be kept, for this reason.
    #[error("an output of the action is refused: {0}")]
    Output(String),
    /// Nobody waits for it any more, so it was killed.
    #[error("the action was cancelled")]
    Cancelled,
    /// A blob could not be read or kept.
    #[error(transparent)]
    Access(#[from] StorageError),
    /// The machine of the worker failed.
    #[error("the worker cannot {doing}: {error}")]
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
            Self::Output(_) | Self::Access(StorageError::Missing(_)) => Code::FailedPrecondition,
            Self::Access(StorageError::Unreachable(_)) => Code::Unavailable,
            Self::Access(_) | Self::Machine { .. } => Code::Internal,
        }
    }

    /// Returns true if another worker may do better, as the action is not to blame.
    pub fn elsewhere(&self) -> bool {
        match self {
            Self::Access(error) => !matches!(error, StorageError::Missing(_)),
            Self::Machine { .. } => true,
            Self::Refused(_) | Self::NotStarted { .. } | Self::TooLong(_) => false,
            Self::TooMuch(_) | Self::Output(_) | Self::Cancelled => false,
        }
    }
}

impl From<NotADigest> for RunError {
    fn from(error: NotADigest) -> Self {
        Self::Refused(error.to_string())
    }
}
