//! Why there is no result.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use filch::scheduler::{BuildError, JoinError, ShutdownReport, StartError};

use super::protocol::WordCount;

/// Why nothing was counted.
#[derive(Debug)]
pub(crate) enum CountError {
    /// There is no such folder or file, or it cannot be looked at.
    Root(PathBuf, io::Error),
    /// It is a device, a pipe or a socket.
    NeitherFileNorFolder(PathBuf),
    /// The system refused the threads that read.
    IoThreads(io::Error),
    /// The scheduler refused to start.
    Build(BuildError),
    /// A process failed or could not be submitted: its message.
    Failed(String),
    /// The scheduler was shut down before the job was done.
    Cancelled,
    /// The job was done, but its processes did not all end.
    Unclean(ShutdownReport),
}

impl CountError {
    /// Whether other arguments would help.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Build(BuildError::Processors(
                StartError::NoProcessors | StartError::TooManyProcessors { .. }
            ))
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
            Self::Root(path, error) => write!(f, "cannot count {}: {error}", path.display()),
            Self::NeitherFileNorFolder(path) => write!(
                f,
                "cannot count {}: neither a folder nor a regular file",
                path.display()
            ),
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
