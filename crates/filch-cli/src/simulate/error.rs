//! Why there is no simulation.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use filch_engine::{AddError, Exit, StartError};

/// Why nothing was simulated, or written.
#[derive(Debug)]
pub(crate) enum SimulateError {
    /// The engine refused to start a scheduler.
    Start(StartError),
    /// A scheduler refused a worker.
    Add(AddError),
    /// A worker ended before its time: its name, and why.
    Ended(String, Exit),
    /// The file cannot be made, or cannot be written to.
    File(PathBuf, io::Error),
}

impl fmt::Display for SimulateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => error.fmt(f),
            Self::Add(error) => error.fmt(f),
            Self::Ended(worker, exit) => write!(f, "the worker `{worker}` ended: {exit}"),
            Self::File(path, error) => write!(f, "cannot write {}: {error}", path.display()),
        }
    }
}

impl Error for SimulateError {}

impl From<StartError> for SimulateError {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

impl From<AddError> for SimulateError {
    fn from(error: AddError) -> Self {
        Self::Add(error)
    }
}
