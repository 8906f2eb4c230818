//! Counters of the transport.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use filch_scheduler::Node;

use crate::lost::Life;

macro_rules! counts {
    ($($(#[$doc:meta])* $count:ident => $field:ident,)*) => {
        /// The events that are counted.
        #[derive(Clone, Copy)]
        pub(crate) enum Count { $($count,)* }

        /// The number of each [`Count`].
        pub(crate) struct Counters([AtomicU64; [$(Count::$count,)*].len()]);

        /// The counts of one node's transport. Its `Display` is for a person who wants to know
        /// where messages are.
        ///
        /// Messages that [`send`](filch_scheduler::Handle::send) has taken are `sent`, `dropped`,
        /// or wait in the [nodes'](NodeStats) outboxes. Those that another node has sent are
        /// counted here as `delivered`, `no_such_process`, `future`, `full`, `misrouted`,
        /// `undecodable` or `missed`; or they are in packets that were `garbage` or `stale`.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct Stats {
            /// The node.
            pub node: Node,
            /// Its life.
            pub life: Life,
            /// True if it is connected to a server of NATS now.
            pub is_connected: bool,
            /// The nodes that are connected, by number.
            pub nodes: Vec<NodeStats>,
            $($(#[$doc])* pub $field: u64,)*
        }

        impl Counters {
            /// Reads the counters. Each number was true at some moment during the call.
            pub(crate) fn stats(
                &self,
                node: Node,
                life: Life,
                is_connected: bool,
                nodes: Vec<NodeStats>,
            ) -> Stats {
                Stats { node, life, is_connected, nodes, $($field: self.get(Count::$count),)* }
            }
        }
    };
}

counts! {
    /// Messages given to the connection. They may be lost with it.
    Sent => sent,
    /// Messages that were taken, and dropped before they were sent, as their node was lost.
    Dropped => dropped,
    /// Messages handed back: the node is not connected, or NATS is not.
    NoRoute => no_route,
    /// Messages handed back: there was no room.
    Backlog => backlog,
    /// Messages handed back: they cannot be encoded, or are too large.
    Unsendable => unsendable,
    /// Messages that came and were given to processes, without those of monitors.
    Delivered => delivered,
    /// Messages that came for processes that have ended.
    NoSuchProcess => no_such_process,
    /// Messages that came for futures, which take none.
    Future => future,
    /// Messages that came for processes whose mailbox was full.
    Full => full,
    /// Messages that came for another node.
    Misrouted => misrouted,
    /// Messages that came and that the codec refused.
    Undecodable => undecodable,
    /// Messages that were sent to this node and did not come: lost on the way.
    Missed => missed,
    /// Packets that came and were invalid, or not complete.
    Garbage => garbage,
    /// Packets that came for another life, or from a life that is not connected.
    Stale => stale,
    /// Monitors of processes on other nodes that have reported an end.
    Ended => ended,
    /// Closures that panicked instead of making the message of a monitor: none was sent.
    Panicked => panicked,
    /// Nodes that were lost, or could not be connected.
    NodesLost => nodes_lost,
    /// Times that the connection to NATS was lost and made again.
    Reconnects => reconnects,
}

impl Default for Counters {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; _])
    }
}

impl Counters {
    pub(crate) fn add(&self, count: Count, more: u64) {
        // ORDERING: Relaxed; only the number matters.
        self.0[count as usize].fetch_add(more, Ordering::Relaxed);
    }

    /// Takes back a count that was made too early.
    pub(crate) fn take_back(&self, count: Count) {
        // ORDERING: Relaxed; only the number matters.
        self.0[count as usize].fetch_sub(1, Ordering::Relaxed);
    }

    fn get(&self, count: Count) -> u64 {
        // ORDERING: Relaxed; only the number matters.
        self.0[count as usize].load(Ordering::Relaxed)
    }
}

/// The state of the link to another node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeStats {
    /// The node.
    pub node: Node,
    /// Its life; `None` if it was called and has not answered.
    pub life: Option<Life>,
    /// The bytes of messages that wait to be sent there.
    pub waiting: usize,
    /// The number of monitors by which processes of this node watch processes there.
    pub monitors: usize,
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.is_connected { "" } else { "NOT " };
        writeln!(
            f,
            "node {}, life {}: {not}connected to NATS, {} reconnects",
            self.node.0, self.life, self.reconnects
        )?;
        writeln!(
            f,
            "  out: {} sent, {} dropped with their node; handed back: {} without a connection, {} \
             without room, {} unsendable",
            self.sent, self.dropped, self.no_route, self.backlog, self.unsendable
        )?;
        writeln!(
            f,
            "  in: {} delivered, {} lost on the way; refused: {} for ended processes, {} for \
             futures, {} for full mailboxes, {} for other nodes, {} undecodable; packets: {} \
             garbage, {} of other lives",
            self.delivered,
            self.missed,
            self.no_such_process,
            self.future,
            self.full,
            self.misrouted,
            self.undecodable,
            self.garbage,
            self.stale
        )?;
        write!(
            f,
            "  {} monitors told, {} panicked; {} nodes lost",
            self.ended, self.panicked, self.nodes_lost
        )?;
        for NodeStats {
            node,
            life,
            waiting,
            monitors,
        } in &self.nodes
        {
            write!(f, "\n  node {}: ", node.0)?;
            match life {
                Some(life) => write!(f, "life {life}")?,
                None => f.write_str("called, no answer yet")?,
            }
            write!(f, ", {waiting} bytes wait, {monitors} monitors")?;
        }
        Ok(())
    }
}
