//! The outbox of one node: bounded packets of frames, filled without ever waiting for the network.

use std::collections::VecDeque;
use std::mem;
use std::sync::OnceLock;

use filch_sync::{Mutex, MutexGuard, lock};
use tokio::sync::Notify;

use crate::lost::Life;
use crate::wire::{Frame, HEADER, Kind, kind_of};

/// The most bytes of a packet with several frames. Sending them together makes the difference
/// between one NATS message for each of ours and one for many. Twice or half as many bytes are no
/// faster.
const PACKET: usize = 32 * 1024;

/// The end of the queue that frames are put into.
pub(crate) struct Outbox {
    waiting: Mutex<Waiting>,
    /// The most bytes of messages. The few frames that nodes exchange themselves do not count.
    limit: usize,
    /// The life to which the packets go, once it is known.
    pub(crate) there: OnceLock<Life>,
    /// Notified when something waits, and nothing did before.
    pub(crate) filled: Notify,
    /// Notified when nothing more should be sent.
    pub(crate) stop: Notify,
}

/// The state under the lock. No user code runs under it.
struct Waiting {
    packets: VecDeque<Packet>,
    /// The room taken by these packets, and by those that the system does not have yet.
    taken: usize,
    /// The most bytes of a packet of several frames.
    most: usize,
    takes_messages: bool,
}

/// A packet: room for the header, then frames.
#[derive(Debug, Default)]
pub(crate) struct Packet {
    pub(crate) bytes: Vec<u8>,
    pub(crate) messages: u64,
    /// The room that its messages take.
    pub(crate) room: usize,
    /// True if NATS is to answer if nobody listens.
    pub(crate) asks: bool,
    /// True if it says goodbye.
    pub(crate) is_last: bool,
}

/// The reason that an outbox does not take a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// There may be room later.
    Full,
    /// The message is larger than the whole room.
    TooLarge,
    /// The node is lost.
    Over,
}

impl Outbox {
    /// Makes an outbox with room for `limit` bytes of messages, for a server with that packet size.
    pub(crate) fn new(limit: usize, max_payload: usize) -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                packets: VecDeque::new(),
                taken: 0,
                most: PACKET.min(max_payload),
                takes_messages: true,
            }),
            limit,
            there: OnceLock::new(),
            filled: Notify::new(),
            stop: Notify::new(),
        }
    }

    /// Takes the only message of a packet. Never waits for the network. A large packet is taken
    /// itself, without a copy.
    pub(crate) fn offer(&self, packet: &mut Vec<u8>) -> Result<(), NoRoom> {
        let bytes = packet.len() - HEADER;
        if bytes > self.limit {
            return Err(NoRoom::TooLarge);
        }
        let mut waiting = self.lock();
        if !waiting.takes_messages {
            return Err(NoRoom::Over);
        }
        if bytes > self.limit - waiting.taken {
            return Err(NoRoom::Full);
        }
        waiting.taken += bytes;
        self.put(waiting, packet);
        Ok(())
    }

    /// Takes a frame that is no message. If the node is lost, the frame is lost too.
    pub(crate) fn tell(&self, frame: &Frame<'_>) {
        let mut packet = vec![0; HEADER];
        frame.put(&mut packet);
        self.put(self.lock(), &mut packet);
    }

    fn put(&self, mut waiting: MutexGuard<'_, Waiting>, packet: &mut Vec<u8>) {
        let was_empty = waiting.packets.is_empty();
        waiting.put(packet);
        drop(waiting);
        if was_empty {
            self.filled.notify_one();
        }
    }

    /// Takes out all packets. The next ones are for a server that takes so many bytes.
    pub(crate) fn take(&self, max_payload: usize) -> VecDeque<Packet> {
        let mut waiting = self.lock();
        waiting.most = PACKET.min(max_payload);
        mem::take(&mut waiting.packets)
    }

    /// Frees the room of packets that the system has now.
    pub(crate) fn give_back(&self, room: usize) {
        self.lock().taken -= room;
    }

    /// Sets the life to which the packets go.
    pub(crate) fn is_for(&self, there: Life) {
        // It is set once: another life has another outbox.
        let _ = self.there.set(there);
    }

    /// Stops taking messages, and says goodbye.
    pub(crate) fn leave(&self) {
        self.lock().takes_messages = false;
        self.tell(&Frame::Plain(Kind::Leaving));
    }

    /// Stops taking and sending.
    pub(crate) fn stop(&self) {
        self.lock().takes_messages = false;
        self.stop.notify_one();
    }

    /// Returns the room for messages in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns how many bytes of messages wait.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().taken
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }
}

impl Waiting {
    /// Adds the only frame of a packet to the last packet, or the packet itself if it does not fit.
    fn put(&mut self, packet: &mut Vec<u8>) {
        let frame = &packet[HEADER..];
        match self.packets.back_mut() {
            Some(last) if last.bytes.len() + frame.len() <= self.most => {
                last.bytes.extend_from_slice(frame);
                last.count(frame);
            }
            _ => self.packets.push_back(Packet::begin(packet, self.most)),
        }
    }
}

impl Packet {
    /// Begins a packet with one frame. Further frames will not make it longer than `most`.
    fn begin(packet: &mut Vec<u8>, most: usize) -> Self {
        let mut begun = Self::default();
        begun.count(&packet[HEADER..]);
        begun.bytes = if packet.len() < most {
            let mut bytes = Vec::with_capacity(most);
            bytes.extend_from_slice(packet);
            bytes
        } else {
            // A copy would be long, and nothing will follow.
            mem::take(packet)
        };
        begun
    }

    /// Counts a frame that was added.
    fn count(&mut self, frame: &[u8]) {
        match kind_of(frame) {
            Some(Kind::Message) => {
                self.messages += 1;
                self.room += frame.len();
            }
            Some(Kind::Hello | Kind::Pulse) => self.asks = true,
            Some(Kind::Leaving) => self.is_last = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NoRoom, Outbox, PACKET, Packet};
    use crate::lost::Life;
    use crate::wire::{Frame, HEADER, Header, Kind, begin_message, end_message, read};
    use filch_scheduler::{Node, Pid};
    use proptest::collection::vec;
    use proptest::prelude::{Strategy, any, prop_oneof, proptest};

    const FRAME: usize = 21;

    fn packet(number: u128, length: usize) -> Vec<u8> {
        let mut packet = Vec::new();
        begin_message(Pid::from_bits(number), &mut packet);
        packet.resize(packet.len() + length, 7);
        end_message(&mut packet);
        packet
    }

    /// Returns the numbers in its frames of messages and unwatches.
    fn numbers(mut packet: Packet) -> Vec<u128> {
        Header::first(Node(1), Life::begin(), 1).put(&mut packet.bytes);
        let number = |frame| match frame {
            Ok(Frame::Message { to, .. } | Frame::Unwatch(_, to)) => to.to_bits(),
            other => panic!("{other:?}"),
        };
        read(&packet.bytes).unwrap().1.map(number).collect()
    }

    #[derive(Clone, Debug)]
    enum Step {
        Offer(usize),
        Tell,
        Take(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => prop_oneof![0..200_usize, 0..2 * PACKET].prop_map(Step::Offer),
            2 => any::<()>().prop_map(|()| Step::Tell),
            1 => (100..2 * PACKET).prop_map(Step::Take),
        ]
    }

    proptest! {
        /// Invariants: all frames come out, in order; a packet of several frames is no larger than
        /// the server takes, and its counts of messages are right; a new packet begins only when
        /// the last is full.
        #[test]
        fn packets_are_what_was_put_in(steps in vec(step(), 0..60)) {
            let outbox = Outbox::new(usize::MAX, PACKET);
            let (mut put, mut taken) = (Vec::new(), Vec::new());
            let (mut messages, mut bytes, mut most) = (0, 0, PACKET);
            for (number, step) in (0..).zip(steps.into_iter().chain([Step::Take(0)])) {
                match step {
                    Step::Offer(length) => {
                        outbox.offer(&mut packet(number, length)).unwrap();
                        messages += 1;
                        bytes += FRAME + length;
                        put.push(number);
                    }
                    Step::Tell => {
                        outbox.tell(&Frame::Unwatch(0, Pid::from_bits(number)));
                        put.push(number);
                    }
                    Step::Take(next) => {
                        assert_eq!(outbox.waiting(), bytes);
                        let mut before = PACKET;
                        for packet in outbox.take(next) {
                            (messages, bytes) = (messages - packet.messages, bytes - packet.room);
                            outbox.give_back(packet.room);
                            let length = packet.bytes.len();
                            let numbers = numbers(packet);
                            assert!(length <= most || numbers.len() == 1);
                            assert!(before + length - HEADER > most);
                            taken.extend(numbers);
                            before = length;
                        }
                        assert_eq!((messages, bytes, outbox.waiting()), (0, 0, 0));
                        most = PACKET.min(next);
                    }
                }
            }
            assert_eq!(taken, put);
        }
    }

    #[test]
    fn there_is_room_for_so_many_bytes() {
        let outbox = Outbox::new(2 * (FRAME + 9), PACKET);
        let offer = |length| outbox.offer(&mut packet(1, length));
        assert_eq!(offer(2 * (FRAME + 9)), Err(NoRoom::TooLarge));
        assert_eq!((offer(9), offer(10)), (Ok(()), Err(NoRoom::Full)));
        assert_eq!((offer(9), offer(0)), (Ok(()), Err(NoRoom::Full)));
        // Frames that nodes exchange themselves need no room.
        outbox.tell(&Frame::Plain(Kind::Pulse));
        let packets = outbox.take(PACKET);
        // The system does not have these packets yet.
        assert_eq!((offer(9), outbox.waiting()), (Err(NoRoom::Full), 60));
        assert_eq!((packets.len(), packets[0].room), (1, 60));
        assert!(packets[0].asks && !packets[0].is_last);
        outbox.give_back(60);
        assert_eq!((offer(9), outbox.waiting()), (Ok(()), 30));
    }

    /// A failure: a message behind the goodbye, or no goodbye if there is no room.
    #[test]
    fn an_outbox_that_leaves_takes_no_more_messages() {
        let outbox = Outbox::new(30, PACKET);
        outbox.offer(&mut packet(1, 9)).unwrap();
        outbox.leave();
        assert_eq!(outbox.offer(&mut packet(2, 9)), Err(NoRoom::Over));
        let packets = outbox.take(PACKET);
        assert_eq!((packets.len(), packets[0].messages), (1, 1));
        assert!(packets[0].is_last);
    }
}
