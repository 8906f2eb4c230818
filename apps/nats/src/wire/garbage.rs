//! Reads numbers from bytes that may be anything.

use std::error::Error;
use std::fmt;

use filch_scheduler::Pid;

/// Takes `N` bytes from the front.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Garbage> {
    let (first, rest) = bytes.split_first_chunk().ok_or(Garbage::Short)?;
    *bytes = rest;
    Ok(*first)
}

pub(super) fn take_pid(bytes: &mut &[u8]) -> Result<Pid, Garbage> {
    take(bytes).map(u128::from_le_bytes).map(Pid::from_bits)
}

/// The defect of bytes that are not a packet, or not all of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Garbage {
    /// They end too early.
    Short,
    /// They are in another version of the format, or something else.
    Version(u8),
    /// A frame has an unknown kind.
    Kind(u8),
    /// A frame gives a greater length than there are bytes.
    Length {
        /// The length that it gives.
        said: u32,
        /// The bytes that there are.
        left: usize,
    },
    /// The content of a frame or of the header is invalid.
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
