//! The state of one other node.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;

use filch_scheduler::{Node, Pid, Protocol};
use tokio::task::JoinHandle;

use crate::counters::NodeStats;
use crate::lost::{Ended, Life, NodeLost};
use crate::outbox::Outbox;
use crate::remote_monitor::{Due, Watch};
use crate::wire::{Frame, Header, Kind};

/// Another node, which is called or connected.
pub(crate) struct Peer<P: Protocol> {
    pub(crate) outbox: Arc<Outbox>,
    /// The task that empties the outbox.
    pub(crate) outgoing: JoinHandle<()>,
    /// The other end, once it is connected.
    pub(crate) there: Option<There>,
    /// The time when it was called or last heard of.
    pub(crate) heard: Instant,
    /// The threads that wait for the connection.
    pub(crate) callers: Vec<Sender<Result<Life, NodeLost>>>,
    /// The watches of processes there by processes here, by the monitor's number.
    pub(crate) watches: HashMap<u64, (Pid, Watch<P>)>,
    /// The questions for names, by number.
    pub(crate) questions: HashMap<u64, Question>,
}

/// A name that was asked for, and the thread that waits for the answer.
pub(crate) struct Question {
    pub(crate) name: Box<str>,
    pub(crate) asker: Sender<Result<Option<Pid>, NodeLost>>,
}

/// The other end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct There {
    pub(crate) life: Life,
    /// Its number of the link.
    pub(crate) link: u32,
    /// The packets, and the messages, that it has sent on this link, as far as is known here.
    pub(crate) packets: u64,
    pub(crate) messages: u64,
}

/// The place of a packet in its link.
pub(crate) enum Arrival {
    /// It came before, or a later one did.
    Late,
    /// It is later than all that came. So many packets and messages between were lost.
    Next { packets: u64, messages: u64 },
}

impl There {
    pub(crate) fn of(header: &Header) -> Self {
        Self {
            life: header.life,
            link: header.link,
            packets: 0,
            messages: 0,
        }
    }

    pub(crate) fn is_sender_of(&self, header: &Header) -> bool {
        self.life == header.life && self.link == header.link
    }

    /// Takes note of a packet with so many messages.
    pub(crate) fn arrive(&mut self, header: &Header, messages: u64) -> Arrival {
        if header.packets < self.packets {
            return Arrival::Late;
        }
        let arrival = Arrival::Next {
            packets: header.packets - self.packets,
            messages: header.messages.saturating_sub(self.messages),
        };
        self.packets = header.packets.saturating_add(1);
        self.messages = header.messages.saturating_add(messages);
        arrival
    }
}

impl<P: Protocol> Peer<P> {
    /// Repeats, after packets of either side were lost, what the node must know, and asks it for
    /// the same.
    pub(crate) fn resync(&self) {
        self.outbox.tell(&Frame::Plain(Kind::Resync));
        self.say_again();
    }

    /// Repeats what the node must know. Repeating does no harm.
    pub(crate) fn say_again(&self) {
        for (&id, &(pid, _)) in &self.watches {
            self.outbox.tell(&Frame::Watch(id, pid));
        }
        for (&id, question) in &self.questions {
            self.outbox.tell(&Frame::WhereIs(id, &question.name));
        }
    }

    /// Sends a heartbeat; or calls the node again, if it is not connected.
    pub(crate) fn beat(&self) {
        let kind = if self.there.is_some() {
            Kind::Pulse
        } else {
            Kind::Hello
        };
        self.outbox.tell(&Frame::Plain(kind));
    }

    /// Tells all who wait for the lost node; returns the messages for those that watch there.
    pub(crate) fn bury(&mut self, why: NodeLost) -> impl Iterator<Item = Due<P>> {
        for caller in self.callers.drain(..) {
            let _ = caller.send(Err(why));
        }
        for (_, question) in self.questions.drain() {
            let _ = question.asker.send(Err(why));
        }
        self.watches.drain().map(move |(_, (_, watch))| Due {
            watch,
            ended: Ended::Node(why),
        })
    }

    pub(crate) fn stats(&self, node: Node) -> NodeStats {
        NodeStats {
            node,
            life: self.there.map(|there| there.life),
            waiting: self.outbox.waiting(),
            monitors: self.watches.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrival, There};
    use crate::lost::Life;
    use crate::wire::Header;
    use filch_scheduler::Node;

    fn header(packets: u64, messages: u64) -> Header {
        Header {
            packets,
            messages,
            ..Header::first(Node(1), Life::begin(), 1)
        }
    }

    #[test]
    fn gaps_are_seen_and_what_is_late_is_known() {
        let mut there = There::of(&header(0, 0));
        let mut arrive = |packets, before, messages| {
            let header = header(packets, before);
            match there.arrive(&header, messages) {
                Arrival::Late => None,
                Arrival::Next { packets, messages } => Some((packets, messages)),
            }
        };
        assert_eq!(arrive(0, 0, 3), Some((0, 0)));
        assert_eq!(arrive(1, 3, 0), Some((0, 0)));
        assert_eq!(arrive(1, 3, 0), None, "the same once more");
        assert_eq!(arrive(4, 10, 1), Some((2, 7)));
        assert_eq!(arrive(3, 9, 1), None);
        // A number that no sender comes to.
        assert_eq!(arrive(u64::MAX, 11, u64::MAX), Some((u64::MAX - 5, 0)));
    }
}
