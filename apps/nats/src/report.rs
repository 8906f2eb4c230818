//! Reports: each incident is counted, and told to the user's callback.

use std::error::Error;
use std::fmt;

use filch_scheduler::{Node, Pid, Undelivered};
use filch_sync::panic::catch_panic;

use crate::counters::{Count, Counters};
use crate::life::Life;
use crate::lost::NodeLost;
use crate::wire::Garbage;

/// An incident that a person may want to know of. Each is counted in [`Stats`](crate::Stats), too.
#[derive(Debug)]
#[non_exhaustive]
pub enum Incident<'a> {
    /// A node is connected.
    Connected {
        /// The node.
        node: Node,
        /// Its life.
        life: Life,
    },
    /// A node is lost, or could not be connected.
    Lost {
        /// The node.
        node: Node,
        /// Its life; `None` if it has not answered.
        life: Option<Life>,
        /// The reason.
        why: NodeLost,
    },
    /// The connection to NATS was lost, and has been made again.
    Reconnected,
    /// Bytes came that are not a packet, or not all of one.
    Garbage(Garbage),
    /// A packet came from a node that is not connected, or for another life of this one: it is
    /// late, or meant for somebody else.
    Stale {
        /// The node that sent it.
        node: Node,
        /// The life of that node.
        life: Life,
    },
    /// So many messages of that node were lost on the way.
    Missed {
        /// The node.
        node: Node,
        /// The number of messages.
        messages: u64,
    },
    /// The bytes of a message could not be decoded.
    Undecodable {
        /// The process that it was for.
        to: Pid,
        /// The codec's error.
        error: &'a (dyn Error + 'static),
    },
    /// A message could not be encoded. It was handed back.
    Unencodable {
        /// The process that it was for.
        to: Pid,
        /// The codec's error.
        error: &'a (dyn Error + 'static),
    },
    /// A message came, and the scheduler refused it. It was dropped.
    Undelivered {
        /// The process that it was for.
        to: Pid,
        /// The reason.
        reason: Undelivered,
    },
    /// A closure panicked with this message instead of making that of a monitor.
    Panicked(&'a str),
}

impl fmt::Display for Incident<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected { node, life } => {
                write!(f, "node {} is connected, in its life {life}", node.0)
            }
            Self::Lost { node, life, why } => {
                write!(f, "node {}", node.0)?;
                if let Some(life) = life {
                    write!(f, ", in its life {life},")?;
                }
                write!(f, " is lost: {why}")
            }
            Self::Reconnected => f.write_str("the connection to NATS was lost, and is back"),
            Self::Garbage(garbage) => write!(f, "garbage came: {garbage}"),
            Self::Stale { node, life } => write!(
                f,
                "a packet came that is late, or not for this life: from node {}, life {life}",
                node.0
            ),
            Self::Missed { node, messages } => {
                write!(
                    f,
                    "{messages} messages of node {} were lost on the way",
                    node.0
                )
            }
            Self::Undecodable { to, error } => {
                write!(f, "a message for process {to} cannot be decoded: {error}")
            }
            Self::Unencodable { to, error } => {
                write!(f, "a message for process {to} cannot be encoded: {error}")
            }
            Self::Undelivered { to, reason } => {
                write!(f, "a message for process {to} was refused: {reason:?}")
            }
            Self::Panicked(message) => write!(f, "the message of a monitor: panic: {message}"),
        }
    }
}

pub(crate) type Listener = Box<dyn Fn(&Incident<'_>) + Send + Sync>;

/// The counters, and the user's callback.
pub(crate) struct Report {
    pub(crate) counters: Counters,
    listener: Option<Listener>,
}

impl Report {
    pub(crate) fn new(listener: Option<Listener>) -> Self {
        Self {
            counters: Counters::default(),
            listener,
        }
    }

    pub(crate) fn tell(&self, incident: &Incident<'_>) {
        match incident {
            Incident::Connected { .. } => {}
            Incident::Lost { .. } => self.counters.add(Count::NodesLost, 1),
            Incident::Reconnected => self.counters.add(Count::Reconnects, 1),
            Incident::Garbage(_) => self.counters.add(Count::Garbage, 1),
            Incident::Stale { .. } => self.counters.add(Count::Stale, 1),
            Incident::Missed { messages, .. } => self.counters.add(Count::Missed, *messages),
            Incident::Undecodable { .. } => self.counters.add(Count::Undecodable, 1),
            Incident::Unencodable { .. } => self.counters.add(Count::Unsendable, 1),
            Incident::Undelivered { reason, .. } => self.counters.add(
                match reason {
                    Undelivered::Future => Count::Future,
                    Undelivered::Full { .. } => Count::Full,
                    Undelivered::Misrouted { .. } => Count::Misrouted,
                    _ => Count::NoSuchProcess,
                },
                1,
            ),
            Incident::Panicked(_) => self.counters.add(Count::Panicked, 1),
        }
        if let Some(listener) = &self.listener {
            // It is the user's, and may be called in any state.
            let _ = catch_panic(|| listener(incident));
        }
    }
}
