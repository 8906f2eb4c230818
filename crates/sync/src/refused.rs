//! The answer of a system without heavy fences.

use core::{error, fmt};

/// No heavy fence was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The process has passed about 1 000 within the last second; try again in a millisecond.
    ForNow,
    /// The system has none, or `register` was not called. There will be none.
    ForGood,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ForNow => "the process has passed a thousand heavy fences within a second",
            Self::ForGood => "this system has no heavy fence, or it was not asked for it",
        })
    }
}

impl error::Error for Refused {}
