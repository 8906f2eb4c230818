//! A packet: a header, and frames.

use filch_scheduler::{Node, Pid};

use crate::lost::Life;
use crate::wire::frame::{self, Frame, Kind};
use crate::wire::{Garbage, take};

/// The version of the format.
const VERSION: u8 = 1;

/// The size of a header in bytes.
pub(crate) const HEADER: usize = 1 + 8 + 4 + 8 + 4 + 8 + 8;

/// The header of a packet: its sender, its receiver, and the packets before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The life that it is for; `None` if the sender does not know it yet.
    pub(crate) to: Option<Life>,
    /// The sender's node.
    pub(crate) node: Node,
    /// The sender's life.
    pub(crate) life: Life,
    /// The sender's number of this link, which no other link has in one life.
    pub(crate) link: u32,
    /// The number of packets before this one on this link.
    pub(crate) packets: u64,
    /// The number of messages before this packet on this link.
    pub(crate) messages: u64,
}

impl Header {
    /// Makes the header of the first packet of a link, to a node whose life is not known yet.
    pub(crate) fn first(node: Node, life: Life, link: u32) -> Self {
        Self {
            to: None,
            node,
            life,
            link,
            packets: 0,
            messages: 0,
        }
    }

    /// Writes it into the room at the front of a packet.
    pub(crate) fn put(&self, packet: &mut [u8]) {
        let header = [
            &[VERSION][..],
            &self.to.map_or(0, Life::to_bits).to_le_bytes(),
            &self.node.0.to_le_bytes(),
            &self.life.to_bits().to_le_bytes(),
            &self.link.to_le_bytes(),
            &self.packets.to_le_bytes(),
            &self.messages.to_le_bytes(),
        ];
        packet[..HEADER].copy_from_slice(&header.concat());
    }
}

/// Starts a packet of a single message, which the caller appends: with room for the header.
pub(crate) fn begin_message(to: Pid, packet: &mut Vec<u8>) {
    packet.clear();
    packet.resize(HEADER, 0);
    frame::begin_message(to, packet);
}

/// Ends such a packet, once the message is appended.
pub(crate) fn end_message(packet: &mut [u8]) {
    frame::end(HEADER, packet);
}

/// Splits a packet into its header and its frames.
///
/// # Errors
/// If it is not a packet.
pub(crate) fn read(packet: &[u8]) -> Result<(Header, Frames<'_>), Garbage> {
    let mut rest = packet;
    let version = u8::from_le_bytes(take(&mut rest)?);
    if version != VERSION {
        return Err(Garbage::Version(version));
    }
    let header = Header {
        to: Life::from_bits(u64::from_le_bytes(take(&mut rest)?)),
        node: Node(u32::from_le_bytes(take(&mut rest)?)),
        life: Life::from_bits(u64::from_le_bytes(take(&mut rest)?)).ok_or(Garbage::Malformed)?,
        link: u32::from_le_bytes(take(&mut rest)?),
        packets: u64::from_le_bytes(take(&mut rest)?),
        messages: u64::from_le_bytes(take(&mut rest)?),
    };
    Ok((header, Frames { rest }))
}

/// The frames of a packet. After an error there are no more.
#[derive(Clone, Debug)]
pub(crate) struct Frames<'a> {
    rest: &'a [u8],
}

impl Frames<'_> {
    /// The kind of the next frame, if there is one of a known kind.
    pub(crate) fn next_kind(&self) -> Option<Kind> {
        self.rest.first().copied().and_then(Kind::of)
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, Garbage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let frame = frame::read(&mut self.rest);
        if frame.is_err() {
            self.rest = &[];
        }
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::{HEADER, Header, read};
    use crate::lost::Life;
    use crate::wire::{Frame, Garbage, Kind};
    use filch_scheduler::{ExitReason, Node, Pid};
    use proptest::collection::vec;
    use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

    fn header() -> impl Strategy<Value = Header> {
        let numbers = any::<(u64, u32, u64, u32, u64, u64)>();
        numbers.prop_map(|(to, node, life, link, packets, messages)| Header {
            to: Life::from_bits(to),
            node: Node(node),
            life: Life::from_bits(life | 1).unwrap(),
            link,
            packets,
            messages,
        })
    }

    /// Makes frames; what they borrow is leaked.
    fn frame() -> impl Strategy<Value = Frame<'static>> {
        let plain = [
            Kind::Hello,
            Kind::Welcome,
            Kind::Pulse,
            Kind::Leaving,
            Kind::Resync,
        ];
        let text = "[ -~]{0,9}";
        let reason = prop_oneof![
            Just(ExitReason::Done),
            Just(ExitReason::WaitsForNothing),
            Just(ExitReason::Terminated),
            Just(ExitReason::ShutDown),
            Just(ExitReason::NoSuchProcess),
            text.prop_map(|text| ExitReason::Failed(text.as_str().into())),
            text.prop_map(|text| ExitReason::Panicked(text.as_str().into())),
            text.prop_map(|text| ExitReason::NotStarted(text.as_str().into())),
        ];
        let linked =
            (any::<u128>(), reason.clone()).prop_map(|(origin, reason)| ExitReason::Linked {
                origin: Pid::from_bits(origin),
                reason: reason.into(),
            });
        let id = any::<u64>;
        let pid = || any::<u128>().prop_map(Pid::from_bits);
        let message = (pid(), vec(any::<u8>(), 0..20)).prop_map(|(to, bytes)| Frame::Message {
            to,
            bytes: bytes.leak(),
        });
        prop_oneof![
            message,
            proptest::sample::select(plain.to_vec()).prop_map(Frame::Plain),
            (id(), pid()).prop_map(|(id, pid)| Frame::Watch(id, pid)),
            (id(), pid()).prop_map(|(id, pid)| Frame::Unwatch(id, pid)),
            (id(), prop_oneof![reason, linked]).prop_map(|(id, why)| Frame::Ended(id, why)),
            (id(), text).prop_map(|(id, name)| Frame::WhereIs(id, name.leak())),
            (id(), proptest::option::of(pid())).prop_map(|(id, pid)| Frame::Here(id, pid)),
        ]
    }

    proptest! {
        /// Invariants: the frames that were written are read, in order; a packet that is cut
        /// anywhere is garbage at the cut and not before.
        #[test]
        fn what_is_put_is_read(
            header in header(),
            made in vec(frame(), 0..5),
            cut in any::<proptest::sample::Index>(),
        ) {
            let mut bytes = vec![0; HEADER];
            header.put(&mut bytes);
            let mut ends = vec![bytes.len()];
            for frame in &made {
                frame.put(&mut bytes);
                ends.push(bytes.len());
            }
            let (read_header, frames) = read(&bytes).unwrap();
            assert_eq!(read_header, header);
            let frames: Vec<_> = frames.map(Result::unwrap).collect();
            assert_eq!(frames, made);

            let cut = cut.index(bytes.len());
            match read(&bytes[..cut]) {
                Err(garbage) => assert!(cut < HEADER && garbage == Garbage::Short),
                Ok((_, frames)) => {
                    let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
                    let results: Vec<_> = frames.collect();
                    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), whole);
                    assert_eq!(results.len() > whole, !ends.contains(&cut));
                }
            }
        }

        /// A failure: a panic, or frames without end.
        #[test]
        fn bytes_may_be_anything(
            header in header(),
            kind in 0..16_u8,
            length in prop_oneof![0..40_u32, any::<u32>()],
            rest in vec(any::<u8>(), 0..60),
            is_headed in any::<bool>(),
        ) {
            let mut bytes = Vec::new();
            if is_headed {
                bytes.resize(HEADER, 0);
                header.put(&mut bytes);
                bytes.push(kind);
                bytes.extend_from_slice(&length.to_le_bytes());
            }
            bytes.extend_from_slice(&rest);
            if let Ok((_, frames)) = read(&bytes) {
                assert!(frames.count() <= bytes.len());
            }
        }
    }
}
