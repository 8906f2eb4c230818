//! Messages to processes on other nodes. How they travel is a [`Receiver`]'s concern.

use std::fmt;
use std::sync::Arc;

use filch_sync::panic::drop_all_contained;

use crate::protocol::error_by_display;
use crate::{Handle, Node, Pid, Protocol, Receiver, SendError, Undelivered};

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

impl<P: Protocol> Handle<P> {
    /// The node that this scheduler's processes live on.
    pub fn node(&self) -> Node {
        self.table().node()
    }

    /// From now on `receiver` takes the messages for processes on `node`. Returns the one before
    /// it. A receiver for the scheduler's own node is never asked. The scheduler lets go of its
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

    /// From now on messages for processes on `node` are refused. Returns the receiver that took
    /// them until now; a message that is being sent just now may still reach it.
    pub fn disconnect(&self, node: Node) -> Option<Arc<dyn Receiver<P>>> {
        self.shared.routes.write().as_mut()?.remove(&node)
    }

    /// Lets go of all receivers, and takes no more.
    pub(crate) fn disconnect_all(&self) {
        // A separate statement, to let go of the lock: their destructors are user code.
        let all = self.shared.routes.write().take();
        drop_all_contained(all.into_iter().flatten());
    }

    /// Whether it has let go of all receivers, for ever.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.shared.routes.read().is_none()
    }

    /// Hands a message for another node to the receiver that is connected for it.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_away(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        let routes = self.shared.routes.read();
        let receiver = routes.as_ref().and_then(|routes| routes.get(&to.node()));
        let receiver = receiver.cloned();
        drop(routes);
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

/// Nothing is connected to a scheduler that is shut down, as it would never let go of it. The
/// receiver comes back.
pub struct ConnectError<R> {
    /// The node that it would have taken messages for.
    pub node: Node,
    /// The receiver.
    pub receiver: R,
}

impl<R> fmt::Display for ConnectError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = self.node.0;
        write!(
            f,
            "the scheduler is shut down, and connected to no node any more, so not to node {node} \
             either"
        )
    }
}

error_by_display!(ConnectError<R>);
