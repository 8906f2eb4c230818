//! The ends of nodes and of their processes, with the reasons.

use std::error::Error;
use std::fmt;

use filch_scheduler::{ExitReason, Node};

/// The end of a process on another node, as far as this node can know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// Its node reports that it has ended, in this way: [`ExitReason::NoSuchProcess`] if it had
    /// ended before it was watched, or the news of its end was lost and asked for again.
    Process(ExitReason),
    /// Its node is lost, so the process cannot be reached: it may live on there.
    Node(NodeLost),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(reason) => reason.fmt(f),
            Self::Node(lost) => write!(f, "its node is lost: {lost}"),
        }
    }
}

/// The reason that another node is not, or no longer, connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeLost {
    /// It was not connected when the call was made.
    NotConnected,
    /// The server of NATS says that nobody listens there: its program has ended, or has lost its
    /// connection.
    NoResponders,
    /// It was silent for as long as [patience](crate::Builder::patience) lasts; or the server of
    /// NATS could not be reached for so long.
    Silent,
    /// It said goodbye: its scheduler was shut down, or its transport was left.
    Left,
    /// Another life of that node has called.
    AnotherLife,
    /// The same life has connected again, as it had lost this node.
    Renewed,
    /// This node's transport has ended: it was left, or its scheduler was shut down, or its
    /// connection to NATS is closed for ever.
    Over,
}

impl fmt::Display for NodeLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotConnected => "it is not connected",
            Self::NoResponders => "nobody listens there: its program has ended, or is cut off",
            Self::Silent => "it has been silent for too long",
            Self::Left => "it has left",
            Self::AnotherLife => "another life of it has come",
            Self::Renewed => "it had lost us, and has connected anew",
            Self::Over => "our own transport is over",
        })
    }
}

/// The reason that another node was not connected, or not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectError {
    /// It cannot be reached, or was lost before it answered.
    Lost {
        /// The node.
        node: Node,
        /// The reason.
        why: NodeLost,
    },
    /// The node is this one.
    Itself,
    /// The name is too long: it has so many bytes.
    LongName(usize),
    /// Called on the transport's own thread, which would wait for itself.
    CalledFromInside,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { node, why } => write!(f, "node {} cannot be asked: {why}", node.0),
            Self::Itself => f.write_str("that is the node itself, which needs no connection"),
            Self::LongName(bytes) => write!(f, "a name of {bytes} bytes is too long to ask for"),
            Self::CalledFromInside => f.write_str(
                "called on the transport's own thread, which would wait for itself: call it from \
                 another one",
            ),
        }
    }
}

impl Error for ConnectError {}
