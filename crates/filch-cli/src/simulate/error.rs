//! The reasons why there is no simulation.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use filch_engine::{AddError, Exit, StartError};

use super::window::WindowError;

/// The reason why nothing was simulated, or written.
#[derive(Debug)]
pub(crate) enum SimulateError {
    /// The engine refused to start a scheduler.
    Start(StartError),
    /// A scheduler refused a worker.
    Add(AddError),
    /// A worker ended before its time: its name, and the reason.
    Ended(String, Exit),
    /// There is no window.
    Window(WindowError),
    /// The file cannot be made, or cannot be written to.
    File(PathBuf, io::Error),
}

impl SimulateError {
    /// Returns whether other arguments would help.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, Self::Window(error) if error.is_usage())
    }
}

impl fmt::Display for SimulateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => error.fmt(f),
            Self::Add(error) => error.fmt(f),
            Self::Ended(worker, exit) => write!(f, "the worker `{worker}` ended: {exit}"),
            Self::Window(error) => error.fmt(f),
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
