//! Messages that are not delivered here: the reasons, and the receiver of those for other nodes.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use filch_sync::lock;

use crate::handle::send::refused;
use crate::protocol::error_by_display;
use crate::{Handle, NoSuchProcess, Node, Pid, Protocol};

/// Takes messages for processes elsewhere: the sending end of a transport. At the receiving end,
/// the scheduler's [`Handle`](crate::Handle) delivers them: it is a receiver for the processes of
/// its own node.
///
/// A handle hands back a message for a third node, as [misrouted](Undelivered::Misrouted), so none
/// goes round in circles. A gateway is a receiver that [sends](crate::Handle::send) what it gets;
/// its author must make sure that routes form no ring. The example `two_nodes` of `filch-actors`
/// sends messages over a channel.
pub trait Receiver<P: Protocol>: Any + Send + Sync {
    /// Takes `message` for the process `to`, or hands it back. Called by the sender, in a step too,
    /// so it should not block.
    ///
    /// # Errors
    /// [`SendError`], with the message. A message that was taken may still get lost in the
    /// transport.
    fn receive(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>>;
}

impl<P: Protocol> fmt::Debug for dyn Receiver<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver")
    }
}

/// The receiver of messages for processes elsewhere. `None` after the shutdown.
pub(crate) type Elsewhere<P> = Option<Option<Arc<dyn Receiver<P>>>>;

/// The error for a message that was not delivered, which comes back.
pub struct SendError<P: Protocol> {
    /// The process that it was for.
    pub to: Pid,
    /// The reason why it was not delivered.
    pub reason: Undelivered,
    /// The message.
    pub message: P::Message,
}

/// The reason why a message was not delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undelivered {
    /// No live process has that PID: it has ended, or never was.
    NoSuchProcess,
    /// Its mailbox holds as many messages as it may, sent and not yet given to a step.
    Full {
        /// The number of messages that it may hold.
        limit: usize,
    },
    /// The process is a future, which takes no messages unless it is
    /// [upgraded](crate::Handle::upgrade) to a process that does.
    Future,
    /// The process lives on a node for which no [`Receiver`] is connected.
    NoRoute,
    /// The message was brought to a scheduler whose node is not the process's, and which does not
    /// pass it on. See [`Receiver`].
    Misrouted {
        /// The node of that scheduler.
        node: Node,
    },
    /// The [`Receiver`] for the process's node has so much still to send that it has no room for
    /// more. It may have later.
    Backlog {
        /// The most bytes that it keeps.
        limit: usize,
    },
    /// The [`Receiver`] cannot send this message, now or later: it cannot be encoded, or is too
    /// large for the wire.
    Unsendable,
}

impl<P: Protocol> fmt::Display for SendError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (to, at) = (self.to, self.to.node().0);
        match self.reason {
            Undelivered::NoSuchProcess => write!(f, "{}", NoSuchProcess { pid: to }),
            Undelivered::Full { limit } => write!(
                f,
                "the mailbox of process {to} is full: it holds {limit} messages at most, and the \
                 process is slower than those who send to it"
            ),
            Undelivered::Future => write!(f, "process {to} is a future, which takes no messages"),
            Undelivered::NoRoute => {
                write!(f, "process {to} lives on node {at}, which is not connected")
            }
            Undelivered::Misrouted { node } => write!(
                f,
                "process {to} lives on node {at}, and the message was brought to node {}, which \
                 does not pass it on",
                node.0
            ),
            Undelivered::Backlog { limit } => write!(
                f,
                "there is no room to keep a message for process {to} on node {at}: {limit} bytes \
                 at most wait to be sent there, and the wire is slower than those who send"
            ),
            Undelivered::Unsendable => write!(
                f,
                "a message for process {to} on node {at} cannot be sent: it cannot be encoded, or \
                 is too large"
            ),
        }
    }
}

error_by_display!(SendError<P: Protocol>);

impl<P: Protocol> Receiver<P> for Handle<P> {
    /// [Sends](Handle::send) the message to a process of this node.
    ///
    /// # Errors
    /// As `send`; and [`Undelivered::Misrouted`], if the message is for another node.
    fn receive(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        let node = self.node();
        if to.node() == node {
            return self.send(to, message);
        }
        Err(refused(to, Undelivered::Misrouted { node }, message))
    }
}

impl<P: Protocol> Handle<P> {
    /// Returns the node that this scheduler's processes live on.
    pub fn node(&self) -> Node {
        self.table().node()
    }

    /// Returns the receiver of messages for processes on other nodes, if there is one.
    pub fn receiver(&self) -> Option<Arc<dyn Receiver<P>>> {
        lock(&self.shared().elsewhere).clone()?
    }

    /// Makes `receiver` take the messages for processes on other nodes, unless there is a receiver
    /// already, and returns the one there is. The shutdown drops it, so two schedulers may hold
    /// each other's handles; from then on this returns `None`.
    pub fn receive_by(&self, receiver: Arc<dyn Receiver<P>>) -> Option<Arc<dyn Receiver<P>>> {
        let mut elsewhere = lock(&self.shared().elsewhere);
        Some(Arc::clone(elsewhere.as_mut()?.get_or_insert(receiver)))
    }

    /// Returns the receiver, and takes no other.
    pub(crate) fn disconnect(&self) -> Elsewhere<P> {
        lock(&self.shared().elsewhere).take()
    }

    /// Checks if the shutdown has begun, so that no receiver is taken any more.
    pub fn is_cut_off(&self) -> bool {
        lock(&self.shared().elsewhere).is_none()
    }

    /// Hands a message for another node to the receiver.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_away(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        match self.receiver() {
            Some(receiver) => receiver.receive(to, message),
            None => Err(refused(to, Undelivered::NoRoute, message)),
        }
    }
}
