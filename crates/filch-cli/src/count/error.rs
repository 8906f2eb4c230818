//! The reasons why there is no result.

use std::error::Error;
use std::fmt;
use std::io;

use filch::scheduler::{JoinError, ShutdownReport, StartError};

use super::protocol::WordCount;

/// The reason why nothing was counted.
#[derive(Debug)]
pub(crate) enum CountError {
    /// The system refused the threads that read.
    IoThreads(io::Error),
    /// The scheduler refused to start.
    Build(StartError),
    /// A process failed or could not be submitted, with this message.
    Failed(String),
    /// The scheduler was shut down before the job was done.
    Cancelled,
    /// The job was done, but its processes did not all end.
    Unclean(ShutdownReport),
}

impl CountError {
    /// Returns whether other arguments would help.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Build(StartError::NoProcessors | StartError::TooManyProcessors { .. })
        )
    }
}

impl From<JoinError<WordCount>> for CountError {
    fn from(error: JoinError<WordCount>) -> Self {
        Self::Failed(error.to_string())
    }
}

impl fmt::Display for CountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IoThreads(error) => write!(f, "cannot start the reading threads: {error}"),
            Self::Build(error) => error.fmt(f),
            Self::Failed(message) => f.write_str(message),
            Self::Cancelled => f.write_str("the scheduler was shut down before the job was done"),
            Self::Unclean(report) => {
                write!(f, "counted, but the shutdown was not clean: {report}")
            }
        }
    }
}

impl Error for CountError {}
