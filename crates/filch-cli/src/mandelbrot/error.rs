//! The reasons why there is no picture.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use filch::fork_join::StartError;

use super::size::Size;

/// The reason why no picture was drawn, or written.
#[derive(Debug)]
pub(crate) enum MandelbrotError {
    /// The pool refused to start.
    Start(StartError),
    /// There is no memory for a picture of that size.
    NoMemory(Size),
    /// The file cannot be made, or cannot be written to.
    File(PathBuf, io::Error),
    /// That many pixels differ between the picture of all workers and that of one thread.
    Wrong(usize),
}

impl MandelbrotError {
    /// Returns whether other arguments would help.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Start(StartError::NoThreads | StartError::TooManyThreads { .. })
        )
    }
}

impl fmt::Display for MandelbrotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => error.fmt(f),
            Self::NoMemory(size) => write!(f, "no memory for a picture of {size} pixels"),
            Self::File(path, error) => write!(f, "cannot write {}: {error}", path.display()),
            Self::Wrong(pixels) => write!(
                f,
                "{pixels} pixels of the picture differ from what one thread draws"
            ),
        }
    }
}

impl Error for MandelbrotError {}
