//! The wire format: packets of frames, as bytes.
//!
//! A packet is one message of NATS. It has a header, and frames one after the other:
//!
//! ```text
//! header   version u8 | life of the receiver u64 | node u32, life u64, link u32 of the sender
//!          | packets u64, messages u64 that went before on this link
//! frame    kind u8 | length of the rest u32 | the rest
//! ```
//!
//! Numbers are little-endian. All bytes come from outside, and may be anything.

mod frame;
mod packet;
mod reason;

use filch_scheduler::Pid;
use thiserror::Error;

pub(crate) use frame::{Frame, Kind, kind_of};
pub(crate) use packet::{HEADER, Header, begin_message, end_message, read};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Garbage {
    /// They end too early.
    #[error("the packet ends too early")]
    Short,
    /// They are in another version of the format, or something else.
    #[error("the packet is of version {0}, which is not spoken here")]
    Version(u8),
    /// A frame has an unknown kind.
    #[error("a frame is of kind {0}, which nobody knows")]
    Kind(u8),
    /// A frame gives a greater length than there are bytes.
    #[error("a frame of {said} bytes, it says, and {left} are left")]
    Length {
        /// The length that it gives.
        said: u32,
        /// The bytes that there are.
        left: usize,
    },
    /// The content of a frame or of the header is invalid.
    #[error("what is in a frame makes no sense")]
    Malformed,
}
