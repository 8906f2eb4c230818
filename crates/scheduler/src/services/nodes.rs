//! Messages to processes on other nodes. How they travel is a [`Receiver`]'s concern.

use std::sync::{Arc, PoisonError};

use filch_sync::panic::drop_contained;

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

    /// What takes the messages for processes on other nodes, if anything does.
    pub fn receiver(&self) -> Option<Arc<dyn Receiver<P>>> {
        let elsewhere = &self.shared.elsewhere;
        let elsewhere = elsewhere.read().unwrap_or_else(PoisonError::into_inner);
        elsewhere.clone()?
    }

    /// Has `receiver` take the messages for processes on other nodes, if nothing does yet, and returns
    /// what does. The scheduler lets go of it when it is shut down, so that two schedulers may have each
    /// other's handles. `None` from then on.
    pub fn receive_by(&self, receiver: Arc<dyn Receiver<P>>) -> Option<Arc<dyn Receiver<P>>> {
        let elsewhere = &self.shared.elsewhere;
        let mut elsewhere = elsewhere.write().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(elsewhere.as_mut()?.get_or_insert(receiver)))
    }

    /// Lets go of the receiver, and takes no other.
    pub(crate) fn disconnect_all(&self) {
        let elsewhere = &self.shared.elsewhere;
        // A separate statement, to let go of the lock: its destructor is user code.
        let receiver = elsewhere
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop_contained(receiver);
    }

    /// Whether it has let go of its receiver, for ever.
    pub fn is_cut_off(&self) -> bool {
        let elsewhere = &self.shared.elsewhere;
        elsewhere
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none()
    }

    /// Hands a message for another node to the receiver.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_away(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        match self.receiver() {
            Some(receiver) => receiver.receive(to, message),
            None => Err(SendError {
                to,
                message,
                reason: Undelivered::NoRoute,
            }),
        }
    }
}
