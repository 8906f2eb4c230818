//! Reports: each incident is counted, and told to the user's callback.

use filch_scheduler::{Node, Pid, Undelivered};
use filch_sync::panic::catch_panic;
use thiserror::Error;

use crate::counters::{Count, Counters};
use crate::lost::{Life, NodeLost};
use crate::wire::Garbage;

/// An incident that a person may want to know of. Each is counted in [`Stats`](crate::Stats), too.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Incident<'a> {
    /// A node is connected.
    #[error("node {} is connected, in its life {life}", .node.0)]
    Connected {
        /// The node.
        node: Node,
        /// Its life.
        life: Life,
    },
    /// A node is lost, or could not be connected.
    #[error("node {}{} is lost: {why}", .node.0, in_life(.life))]
    Lost {
        /// The node.
        node: Node,
        /// Its life; `None` if it has not answered.
        life: Option<Life>,
        /// The reason.
        why: NodeLost,
    },
    /// The connection to NATS was lost, and has been made again.
    #[error("the connection to NATS was lost, and is back")]
    Reconnected,
    /// Bytes came that are not a packet, or not all of one.
    #[error("garbage came: {0}")]
    Garbage(Garbage),
    /// A packet came from a node that is not connected, or for another life of this one: it is
    /// late, or meant for somebody else.
    #[error(
        "a packet came that is late, or not for this life: from node {}, life {life}",
        .node.0
    )]
    Stale {
        /// The node that sent it.
        node: Node,
        /// The life of that node.
        life: Life,
    },
    /// So many messages of that node were lost on the way.
    #[error("{messages} messages of node {} were lost on the way", .node.0)]
    Missed {
        /// The node.
        node: Node,
        /// The number of messages.
        messages: u64,
    },
    /// The bytes of a message could not be decoded.
    #[error("a message for process {to} cannot be decoded: {error}")]
    Undecodable {
        /// The process that it was for.
        to: Pid,
        /// The codec's error.
        error: &'a (dyn std::error::Error + 'static),
    },
    /// A message could not be encoded. It was handed back.
    #[error("a message for process {to} cannot be encoded: {error}")]
    Unencodable {
        /// The process that it was for.
        to: Pid,
        /// The codec's error.
        error: &'a (dyn std::error::Error + 'static),
    },
    /// A message came, and the scheduler refused it. It was dropped.
    #[error("a message for process {to} was refused: {reason:?}")]
    Undelivered {
        /// The process that it was for.
        to: Pid,
        /// The reason.
        reason: Undelivered,
    },
    /// A closure panicked with this message instead of making that of a monitor.
    #[error("the message of a monitor: panic: {0}")]
    Panicked(&'a str),
}

fn in_life(life: &Option<Life>) -> String {
    let shown = life.map(|life| format!(", in its life {life},"));
    shown.unwrap_or_default()
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
