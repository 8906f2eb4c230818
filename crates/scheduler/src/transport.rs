//! Messages to processes on other nodes. How they travel is not ours: a [`Receiver`] takes them.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use crate::{Handle, Node, Pid, Protocol, SendError, Undelivered};
use filch_process_table::panic::drop_all_contained;

/// Takes messages for processes elsewhere: the sending end of a transport. At its receiving end, a
/// [`Handle`] of the scheduler there delivers them: it is a receiver itself, for the processes of
/// its own node.
///
/// What is for a third node it does not pass on, but hands back,
/// [misrouted](Undelivered::Misrouted): so nothing goes round in circles, however nodes are
/// connected. A node that is to be a gateway has a receiver that [sends](Handle::send) what it
/// gets, and whoever writes that sees to it that its routes are no ring.
///
/// ```
/// use std::sync::mpsc;
/// use filch_scheduler::{Handle, Node, Pid, Protocol, Receiver, Scheduler, SendError, Undelivered};
///
/// enum Texts {}
/// impl Protocol for Texts {
///     type Input = (); type Message = String; type Command = (); type Reply = (); type Output = (); type Error = String;
/// }
///
/// /// A wire: bytes, in the end.
/// struct Wire(mpsc::SyncSender<(u128, Vec<u8>)>);
/// impl Receiver<Texts> for Wire {
///     fn receive(&self, to: Pid, message: String) -> Result<(), SendError<Texts>> {
///         self.0.try_send((to.to_bits(), message.into_bytes())).map_err(|error| {
///             let (mpsc::TrySendError::Full((_, bytes)) | mpsc::TrySendError::Disconnected((_, bytes))) = error;
///             let message = String::from_utf8(bytes).expect("it was text before");
///             SendError { to, message, reason: Undelivered::NoRoute }
///         })
///     }
/// }
///
/// let here = Scheduler::<Texts>::builder().workers(1).node(Node(1)).build()?;
/// let there = Pid::from_bits(2 << 96); // some process on node 2
/// let refused = here.send(there, "hello".to_owned()).unwrap_err();
/// assert_eq!((refused.reason, refused.message), (Undelivered::NoRoute, "hello".to_owned()));
///
/// let (wire, other_end) = mpsc::sync_channel(16);
/// here.connect(Node(2), Wire(wire))?;
/// here.send(there, "hello".to_owned())?;
/// assert_eq!(other_end.recv()?, (there.to_bits(), b"hello".to_vec()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Receiver<P: Protocol>: Send + Sync + 'static {
    /// Takes `message` for the process `to`, or hands it back. Called by whoever sends, in a step
    /// too: it should not block.
    ///
    /// # Errors
    /// [`SendError`], with the message. That it was taken does not say that it will arrive: that is
    /// the transport's to know.
    fn receive(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>>;
}

impl<P: Protocol> Receiver<P> for Handle<P> {
    /// [Sends](Handle::send) it, to a process of this node.
    ///
    /// # Errors
    /// As `send`; and [`Undelivered::Misrouted`], if it is for another node.
    fn receive(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        let node = self.node();
        if to.node() == node {
            return self.send(to, message);
        }
        Err(SendError {
            to,
            message,
            reason: Undelivered::Misrouted { node },
        })
    }
}

/// Who takes the messages for which node. Read by senders to other nodes only, so a lock will do.
/// Nobody's code runs under it.
pub(crate) struct Routes<P: Protocol> {
    /// `None` after the shutdown.
    to: RwLock<Option<Receivers<P>>>,
}

type Receivers<P> = HashMap<Node, Arc<dyn Receiver<P>>>;

impl<P: Protocol> Default for Routes<P> {
    fn default() -> Self {
        Self {
            to: RwLock::new(Some(HashMap::new())),
        }
    }
}

impl<P: Protocol> Routes<P> {
    fn write(&self) -> RwLockWriteGuard<'_, Option<Receivers<P>>> {
        self.to.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Protocol> Handle<P> {
    /// The node that this scheduler's processes live on.
    pub fn node(&self) -> Node {
        self.table().node()
    }

    /// From now on `receiver` takes the messages for processes on `node`. Returns the one before
    /// it, if there was one.
    ///
    /// A receiver for the scheduler's own node is never asked. The scheduler lets go of its
    /// receivers when it is shut down, so that two schedulers may have each other's handles.
    ///
    /// # Errors
    /// [`ConnectError`], with the receiver, from the shutdown on.
    pub fn connect<R: Receiver<P>>(
        &self,
        node: Node,
        receiver: R,
    ) -> Result<Option<Arc<dyn Receiver<P>>>, ConnectError<R>> {
        match &mut *self.shared.routes.write() {
            Some(routes) => Ok(routes.insert(node, Arc::new(receiver))),
            None => Err(ConnectError { node, receiver }),
        }
    }

    /// From now on messages for processes on `node` are refused. Returns who took them until now;
    /// one that is being sent just now may still come there.
    pub fn disconnect(&self, node: Node) -> Option<Arc<dyn Receiver<P>>> {
        self.shared.routes.write().as_mut()?.remove(&node)
    }

    /// Lets go of all receivers, and takes no more.
    pub(crate) fn disconnect_all(&self) {
        // A statement of its own, for the lock to be let go of: their destructors are not ours.
        let all = self.shared.routes.write().take();
        drop_all_contained(all.into_iter().flatten());
    }

    /// Whether it has let go of all receivers, so that there will never be one again.
    pub(crate) fn is_cut_off(&self) -> bool {
        let routes = self.shared.routes.to.read();
        routes.unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Hands a message for another node to whoever is connected for that one.
    pub(crate) fn send_away(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        let routes = self.shared.routes.to.read();
        let receiver = routes
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .and_then(|routes| routes.get(&to.node()))
            .cloned();
        match receiver {
            Some(receiver) => receiver.receive(to, message),
            None => Err(SendError {
                to,
                message,
                reason: Undelivered::NoRoute,
            }),
        }
    }
}

/// Nobody is connected to a scheduler that is shut down: it will never let go of him. The receiver
/// comes back.
pub struct ConnectError<R> {
    /// The node that it would have taken messages for.
    pub node: Node,
    /// Who was not connected.
    pub receiver: R,
}

impl<R> fmt::Display for ConnectError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the scheduler is shut down, and connected to no node any more, so not to node {} either",
            self.node.0
        )
    }
}

impl<R> fmt::Debug for ConnectError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectError({self})")
    }
}

impl<R> Error for ConnectError<R> {}

impl<P: Protocol> fmt::Debug for dyn Receiver<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver")
    }
}
