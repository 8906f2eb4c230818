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
mod garbage;
mod packet;
mod reason;

pub(crate) use frame::{Frame, Kind, kind_of};
pub use garbage::Garbage;
pub(crate) use packet::{HEADER, Header, begin_message, end_message, read};
