//! Routes to other nodes.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use filch_scheduler::{Handle, Node, Pid, Protocol, Receiver, SendError, Undelivered};
use filch_sync::panic::drop_all_contained;

/// The receivers by node. Only sends to other nodes read this, so a lock will do. No user's code
/// runs under it.
struct Routes<P: Protocol>(RwLock<HashMap<Node, Arc<dyn Receiver<P>>>>);

impl<P: Protocol> Receiver<P> for Routes<P> {
    fn receive(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        let routes = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let receiver = routes.get(&to.node()).cloned();
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

impl<P: Protocol> Drop for Routes<P> {
    fn drop(&mut self) {
        let routes = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop_all_contained(routes.drain());
    }
}

pub(crate) fn connect<P: Protocol, R: Receiver<P>>(
    scheduler: &Handle<P>,
    node: Node,
    receiver: R,
) -> Result<Option<Arc<dyn Receiver<P>>>, ConnectError<R>> {
    let own = || Arc::new(Routes::<P>(RwLock::default()));
    let all = scheduler.receiver().or_else(|| scheduler.receive_by(own()));
    let all: Option<Arc<dyn Any + Send + Sync>> = all.map(|all| all as _);
    match all.and_then(|all| all.downcast::<Routes<P>>().ok()) {
        Some(all) => {
            let mut routes = all.0.write().unwrap_or_else(PoisonError::into_inner);
            Ok(routes.insert(node, Arc::new(receiver)))
        }
        None => Err(ConnectError { node, receiver }),
    }
}

pub(crate) fn disconnect<P: Protocol>(
    scheduler: &Handle<P>,
    node: Node,
) -> Option<Arc<dyn Receiver<P>>> {
    let all: Arc<dyn Any + Send + Sync> = scheduler.receiver()?;
    let all = all.downcast::<Routes<P>>().ok()?;
    let mut routes = all.0.write().unwrap_or_else(PoisonError::into_inner);
    routes.remove(&node)
}

/// The error of connecting to a scheduler that is shut down, which would never drop the receiver,
/// or to one with a receiver of another kind. The receiver comes back.
pub struct ConnectError<R> {
    /// The node whose messages it would have taken.
    pub node: Node,
    /// The receiver.
    pub receiver: R,
}

impl<R> fmt::Display for ConnectError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = self.node.0;
        write!(
            f,
            "no receiver can be connected for node {node}: the scheduler is shut down, or has one \
             receiver for all nodes, of another kind"
        )
    }
}

impl<R> fmt::Debug for ConnectError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectError({self})")
    }
}

impl<R> std::error::Error for ConnectError<R> {}
