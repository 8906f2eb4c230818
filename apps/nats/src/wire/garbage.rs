//! Taking numbers from bytes that may be anything.

use std::error::Error;
use std::fmt;

use filch_scheduler::Pid;

/// Takes the first bytes.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Garbage> {
    let (first, rest) = bytes.split_first_chunk().ok_or(Garbage::Short)?;
    *bytes = rest;
    Ok(*first)
}

pub(super) fn take_pid(bytes: &mut &[u8]) -> Result<Pid, Garbage> {
    take(bytes).map(u128::from_le_bytes).map(Pid::from_bits)
}

/// Why bytes that came are no packet, or not all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Garbage {
    /// They end too early.
    Short,
    /// They are of another version of the format, or of something else.
    Version(u8),
    /// A frame says that it is of a kind that nobody knows.
    Kind(u8),
    /// A frame says that it has more bytes than there are.
    Length {
        /// How many it says.
        said: u32,
        /// How many there are.
        left: usize,
    },
    /// What a frame, or the header, has in it makes no sense.
    Malformed,
}

impl fmt::Display for Garbage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => f.write_str("the packet ends too early"),
            Self::Version(version) => {
                write!(
                    f,
                    "the packet is of version {version}, which is not spoken here"
                )
            }
            Self::Kind(kind) => write!(f, "a frame is of kind {kind}, which nobody knows"),
            Self::Length { said, left } => {
                write!(f, "a frame of {said} bytes, it says, and {left} are left")
            }
            Self::Malformed => f.write_str("what is in a frame makes no sense"),
        }
    }
}

impl Error for Garbage {}
