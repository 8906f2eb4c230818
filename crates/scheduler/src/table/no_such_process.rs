//! The one error for a PID that no process has, or none any more.

use std::error::Error;
use std::fmt;

use crate::table::pid::Pid;

/// No live process has that PID: it has ended, or never was here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSuchProcess {
    /// The process that was meant.
    pub pid: Pid,
}

impl fmt::Display for NoSuchProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, &self.pid)
    }
}

impl Error for NoSuchProcess {}

/// What every message says of it. `which` is the process, or a word for it.
pub(crate) fn write(f: &mut fmt::Formatter<'_>, which: &dyn fmt::Display) -> fmt::Result {
    write!(
        f,
        "no such process: {which} has ended, or is of another scheduler"
    )
}
