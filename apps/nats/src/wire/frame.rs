//! The frames of a packet.

use std::str;

use filch_scheduler::{ExitReason, Pid};

use crate::wire::{Garbage, reason, take, take_pid};

/// The bytes before each frame: its kind, and its length.
const PREFIX: usize = 1 + 4;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// A message for a process.
    Message { to: Pid, bytes: &'a [u8] },
    /// A kind without content.
    Plain(Kind),
    /// The sender asks to be told, with this number, when the process has ended.
    Watch(u64, Pid),
    /// The sender does not ask for that any more.
    Unwatch(u64, Pid),
    /// A process has ended that the receiver watches by this number.
    Ended(u64, ExitReason),
    /// The sender asks for the process of this name, with this number for the answer.
    WhereIs(u64, &'a str),
    /// The answer to such a question.
    Here(u64, Option<Pid>),
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $number:literal,)*) => {
        /// The kind of a frame.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Kind { $($(#[$doc])* $kind = $number,)* }

        impl Kind {
            pub(super) fn of(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$kind),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    Message = 0,
    /// The sender wants a link.
    Hello = 1,
    /// The answer to a hello.
    Welcome = 2,
    /// The sender is alive.
    Pulse = 3,
    /// The sender is about to end.
    Leaving = 4,
    /// The sender has missed packets: what it must know should be repeated.
    Resync = 5,
    Watch = 6,
    Unwatch = 7,
    Ended = 8,
    WhereIs = 9,
    Here = 10,
}

impl Frame<'_> {
    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        match self {
            Self::Message { to, bytes: message } => {
                begin_message(*to, bytes);
                bytes.extend_from_slice(message);
            }
            Self::Plain(kind) => begin(*kind, bytes),
            Self::Watch(id, pid) => put_numbers(Kind::Watch, *id, Some(*pid), bytes),
            Self::Unwatch(id, pid) => put_numbers(Kind::Unwatch, *id, Some(*pid), bytes),
            Self::Ended(id, reason) => {
                put_numbers(Kind::Ended, *id, None, bytes);
                reason::put(reason, bytes);
            }
            Self::WhereIs(id, name) => {
                put_numbers(Kind::WhereIs, *id, None, bytes);
                bytes.extend_from_slice(name.as_bytes());
            }
            Self::Here(id, pid) => put_numbers(Kind::Here, *id, *pid, bytes),
        }
        end(start, bytes);
    }
}

fn put_numbers(kind: Kind, id: u64, pid: Option<Pid>, bytes: &mut Vec<u8>) {
    begin(kind, bytes);
    bytes.extend_from_slice(&id.to_le_bytes());
    if let Some(pid) = pid {
        bytes.extend_from_slice(&pid.to_bits().to_le_bytes());
    }
}

/// Writes the beginning of a message's frame, without the message.
pub(super) fn begin_message(to: Pid, bytes: &mut Vec<u8>) {
    begin(Kind::Message, bytes);
    bytes.extend_from_slice(&to.to_bits().to_le_bytes());
}

fn begin(kind: Kind, bytes: &mut Vec<u8>) {
    bytes.push(kind as u8);
    bytes.extend_from_slice(&[0; PREFIX - 1]);
}

/// Writes the length of the frame that begins at `start`. A frame of 4 GiB is longer than any
/// server of NATS takes.
pub(super) fn end(start: usize, bytes: &mut [u8]) {
    let length = u32::try_from(bytes.len() - start - PREFIX).unwrap_or(u32::MAX);
    bytes[start + 1..start + PREFIX].copy_from_slice(&length.to_le_bytes());
}

/// Returns the kind of a frame that was made here.
pub(crate) fn kind_of(frame: &[u8]) -> Option<Kind> {
    frame.first().copied().and_then(Kind::of)
}

/// Takes the first frame. There is at least one byte.
pub(super) fn read<'a>(bytes: &mut &'a [u8]) -> Result<Frame<'a>, Garbage> {
    let number = u8::from_le_bytes(take(bytes)?);
    let kind = Kind::of(number).ok_or(Garbage::Kind(number))?;
    let said = u32::from_le_bytes(take(bytes)?);
    let length = usize::try_from(said).unwrap_or(usize::MAX);
    let left = bytes.len();
    let (mut body, rest) = bytes
        .split_at_checked(length)
        .ok_or(Garbage::Length { said, left })?;
    *bytes = rest;
    let frame = match kind {
        Kind::Message => {
            let to = take_pid(&mut body)?;
            return Ok(Frame::Message { to, bytes: body });
        }
        Kind::Hello | Kind::Welcome | Kind::Pulse | Kind::Leaving | Kind::Resync => {
            Frame::Plain(kind)
        }
        Kind::Watch => Frame::Watch(take_id(&mut body)?, take_pid(&mut body)?),
        Kind::Unwatch => Frame::Unwatch(take_id(&mut body)?, take_pid(&mut body)?),
        Kind::Ended => Frame::Ended(take_id(&mut body)?, reason::take(&mut body)?),
        Kind::WhereIs => {
            let id = take_id(&mut body)?;
            let name = str::from_utf8(body).map_err(|_| Garbage::Malformed)?;
            return Ok(Frame::WhereIs(id, name));
        }
        Kind::Here if body.len() == size_of::<u64>() => Frame::Here(take_id(&mut body)?, None),
        Kind::Here => Frame::Here(take_id(&mut body)?, Some(take_pid(&mut body)?)),
    };
    if body.is_empty() {
        Ok(frame)
    } else {
        Err(Garbage::Malformed)
    }
}

fn take_id(bytes: &mut &[u8]) -> Result<u64, Garbage> {
    take(bytes).map(u64::from_le_bytes)
}
