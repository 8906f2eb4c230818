//! The answer of a system without heavy fences.

use core::{error, fmt};

/// No heavy fence was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The process has passed as many as it may for now; try again in a millisecond.
    ForNow,
    /// The system has none, or the process is not registered for them.
    ForGood,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ForNow => "the process has passed as many heavy fences as it may for now",
            Self::ForGood => "this system has no heavy fence, or it was not asked for it",
        })
    }
}

impl error::Error for Refused {}
