//! The lives of nodes, and the ends of these and of their processes, with the reasons.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::num::NonZeroU64;

use filch_scheduler::{ExitReason, Node};
use thiserror::Error;

/// One life of a node: a random number that its transport has from its start to its end. A node
/// that comes back has another life, and counts as another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Life(NonZeroU64);

impl Life {
    /// Draws a life that is new, but for a chance of 1 in 2⁶⁴.
    pub(crate) fn begin() -> Self {
        loop {
            // The system has drawn the keys of std's hashers.
            if let Some(life) = Self::from_bits(RandomState::new().build_hasher().finish()) {
                return life;
            }
        }
    }

    /// Returns the life as a number, which is not 0.
    pub fn to_bits(self) -> u64 {
        self.0.get()
    }

    /// Makes a life of a number; 0 is none.
    pub(crate) fn from_bits(bits: u64) -> Option<Self> {
        NonZeroU64::new(bits).map(Self)
    }
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The end of a process on another node, as far as this node can know.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Ended {
    /// Its node reports that it has ended, in this way: [`ExitReason::NoSuchProcess`] if it had
    /// ended before it was watched, or the news of its end was lost and asked for again.
    #[error("{0}")]
    Process(ExitReason),
    /// Its node is lost, so the process cannot be reached: it may live on there.
    #[error("its node is lost: {0}")]
    Node(NodeLost),
}

/// The reason that another node is not, or no longer, connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NodeLost {
    /// It was not connected when the call was made.
    #[error("it is not connected")]
    NotConnected,
    /// The server of NATS says that nobody listens there: its program has ended, or has lost its
    /// connection.
    #[error("nobody listens there: its program has ended, or is cut off")]
    NoResponders,
    /// It was silent for as long as [patience](crate::Builder::patience) lasts; or the server of
    /// NATS could not be reached for so long.
    #[error("it has been silent for too long")]
    Silent,
    /// It said goodbye: its scheduler was shut down, or its transport was left.
    #[error("it has left")]
    Left,
    /// Another life of that node has called.
    #[error("another life of it has come")]
    AnotherLife,
    /// The same life has connected again, as it had lost this node.
    #[error("it had lost us, and has connected anew")]
    Renewed,
    /// This node's transport has ended: it was left, or its scheduler was shut down, or its
    /// connection to NATS is closed for ever.
    #[error("our own transport is over")]
    Over,
}

/// The reason that another node was not connected, or not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// It cannot be reached, or was lost before it answered.
    #[error("node {} cannot be asked: {why}", .node.0)]
    Lost {
        /// The node.
        node: Node,
        /// The reason.
        why: NodeLost,
    },
    /// The node is this one.
    #[error("that is the node itself, which needs no connection")]
    Itself,
    /// The name is too long: it has so many bytes.
    #[error("a name of {0} bytes is too long to ask for")]
    LongName(usize),
    /// Called on the transport's own thread, which would wait for itself.
    #[error(
        "called on the transport's own thread, which would wait for itself: call it from another \
         one"
    )]
    CalledFromInside,
}
