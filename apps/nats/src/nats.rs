//! The handle of a transport, and its thread: packets that come, heartbeats, and the end.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_nats::{Message, Subscriber};
use filch_actors::prelude::*;
use filch_scheduler::{Node, Pid, Protocol};
use filch_sync::{Mutex, lock};
use futures_util::StreamExt as _;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::counters::Stats;
use crate::lost::{ConnectError, Ended, Life, NodeLost};
use crate::peer::Question;
use crate::peers::Peers;
use crate::remote_monitor::{RemoteMonitor, Watch};
use crate::wire::Frame;

/// A limit that names of processes do not reach.
const LONGEST_NAME: usize = 4096;

/// The transport of one scheduler, on one node. From [`Builder::start`](crate::Builder::start).
///
/// Clones are handles of the same transport. Dropping the last one is a [`leave`](Self::leave) that
/// does not wait. The transport also ends when its scheduler is shut down.
pub struct Nats<P: Protocol>(Arc<Owner<P>>);

/// Ends the transport when it is dropped.
struct Owner<P: Protocol> {
    peers: Arc<Peers<P>>,
    /// The thread, until somebody waits for it.
    thread: Mutex<Option<JoinHandle<()>>>,
    id: thread::ThreadId,
}

impl<P: Protocol> Drop for Owner<P> {
    fn drop(&mut self) {
        self.peers.leave.notify_one();
    }
}

impl<P: Protocol> Clone for Nats<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P: Protocol> Nats<P> {
    pub(crate) fn new(peers: Arc<Peers<P>>, thread: JoinHandle<()>) -> Self {
        Self(Arc::new(Owner {
            peers,
            id: thread.thread().id(),
            thread: Mutex::new(Some(thread)),
        }))
    }

    /// Returns this node.
    pub fn node(&self) -> Node {
        self.0.peers.node()
    }

    /// Returns the life of this node.
    pub fn life(&self) -> Life {
        self.0.peers.life
    }

    /// Connects this node and another, both ways: each scheduler gets a route to the other one.
    /// Returns the other's life; at once, if they are connected. Blocks until the other node
    /// answers, or NATS says that nobody listens there, or [patience](crate::Builder::patience) is
    /// over. In a step, it gives the worker away meanwhile, as
    /// [`Handle::blocking`](filch_scheduler::Handle::blocking) does.
    ///
    /// A node that was lost is not connected again by itself, as it may come back in another life:
    /// call this again.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn connect(&self, node: Node) -> Result<Life, ConnectError> {
        if node == self.node() {
            return Err(ConnectError::Itself);
        }
        let (caller, answer) = mpsc::channel();
        self.may_wait()?;
        self.0.peers.call(node, caller);
        self.wait(node, &answer)
    }

    /// Finds the process that is [registered](filch_scheduler::Handle::register) by that name on a
    /// connected node. Blocks until that node answers or is lost; see [`connect`](Self::connect).
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn whereis(&self, node: Node, name: &str) -> Result<Option<Pid>, ConnectError> {
        if node == self.node() {
            return Ok(self.0.peers.scheduler.whereis(name));
        }
        if name.len() > LONGEST_NAME {
            return Err(ConnectError::LongName(name.len()));
        }
        self.may_wait()?;
        let (asker, answer) = mpsc::channel();
        let mut state = self.0.peers.lock();
        let id = state.id();
        match state.peers.get_mut(&node) {
            Some(peer) if peer.there.is_some() => {
                peer.outbox.tell(&Frame::WhereIs(id, name));
                let name = name.into();
                peer.questions.insert(id, Question { name, asker });
            }
            _ => {
                let why = NodeLost::NotConnected;
                return Err(ConnectError::Lost { node, why });
            }
        }
        drop(state);
        self.wait(node, &answer)
    }

    /// Has the process `watcher`, of this node, told of the end of `watched`, which lives on this
    /// or another node: `message` makes the message for it. Never blocks.
    ///
    /// The watcher gets exactly one message, whatever races: the end, the loss of the node or this
    /// call. It gets none if it ends first, or [`demonitor`](Self::demonitor) is in time, or
    /// `message` panics. It comes after all messages that the watched process sent here and that
    /// came. A full [mailbox](filch_scheduler::Submission::mailbox) gets it with a later heartbeat,
    /// when there is room.
    ///
    /// It is certain that the message comes, when [patience](crate::Builder::patience) is over at
    /// the latest: the process has ended, or its node is lost to this one. It is not certain that
    /// the process has ended: [`Ended::Node`] only says that it cannot be reached.
    pub fn monitor(
        &self,
        watcher: Pid,
        watched: Pid,
        message: impl FnOnce(Ended) -> P::Message + Send + 'static,
    ) -> RemoteMonitor {
        let message = Box::new(message);
        self.0.peers.monitor(watched, Watch { watcher, message })
    }

    /// Ends a monitor. Returns true if it was in time: its message is not sent, and will not be.
    pub fn demonitor(&self, monitor: &RemoteMonitor) -> bool {
        self.0.peers.demonitor(monitor)
    }

    /// Returns the counts of the transport. Their `Display` is for a person.
    pub fn stats(&self) -> Stats {
        self.0.peers.stats()
    }

    /// Ends the transport: sends what waits, for a second at most, tells the other nodes, and ends
    /// all monitors. Blocks until that is done. The scheduler goes on, without routes.
    ///
    /// On the transport's own thread it does not wait.
    pub fn leave(&self) {
        self.0.peers.leave.notify_one();
        if self.may_wait().is_err() {
            return;
        }
        let thread = lock(&self.0.thread).take();
        if let Some(thread) = thread {
            // If the thread has panicked, it has left.
            let _ = self.0.peers.scheduler.blocking(|| thread.join());
        }
    }

    fn may_wait(&self) -> Result<(), ConnectError> {
        if thread::current().id() == self.0.id {
            return Err(ConnectError::CalledFromInside);
        }
        Ok(())
    }

    fn wait<T>(
        &self,
        node: Node,
        answer: &Receiver<Result<T, NodeLost>>,
    ) -> Result<T, ConnectError> {
        let answer = self.0.peers.scheduler.blocking(|| answer.recv());
        answer
            .unwrap_or(Err(NodeLost::Over))
            .map_err(|why| ConnectError::Lost { node, why })
    }
}

impl<P: Protocol> fmt::Debug for Nats<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nats")
            .field("node", &self.node())
            .field("life", &self.life())
            .finish_non_exhaustive()
    }
}

/// The most time for sending what waits, and saying goodbye.
const FAREWELL: Duration = Duration::from_secs(1);

/// The messages of NATS for this node.
pub(crate) struct Mail {
    /// The packets of other nodes.
    pub(crate) packets: Subscriber,
    /// The answers of NATS itself that nobody listens.
    pub(crate) nobody: Subscriber,
}

/// Serves until it should leave, or the connection is closed for ever.
pub(crate) async fn serve<P: Protocol>(peers: Arc<Peers<P>>, mut mail: Mail) {
    let mut beats = interval(peers.limits.heartbeat);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = peers.leave.notified() => break,
            packet = mail.packets.next() => match packet {
                Some(packet) => peers.take_in(&packet.payload),
                None => break,
            },
            nobody = mail.nobody.next() => match nobody.as_ref().map(about) {
                Some(Some(node)) => peers.has_no_responders(node),
                Some(None) => {}
                None => break,
            },
            _ = beats.tick() => peers.beat(),
        }
    }
    leave(&peers).await;
}

/// Returns the node that an answer of NATS is about.
fn about(nobody: &Message) -> Option<Node> {
    let is_it = nobody.status == Some(async_nats::StatusCode::NO_RESPONDERS);
    let (_, node) = nobody.subject.rsplit_once('.')?;
    node.parse().ok().filter(|_| is_it).map(Node)
}

/// Says goodbye to all nodes, and waits until they have been told.
async fn leave<P: Protocol>(peers: &Peers<P>) {
    let mut outgoing = peers.bury_all();
    if let Some(&watcher) = peers.watcher.get() {
        // The end of the watcher may be why this ends.
        let _ = peers.scheduler.terminate(watcher);
    }
    let all = async {
        for (_, task) in &mut outgoing {
            let _ = task.await;
        }
        // When the server answers that nobody listens, it has everything. If a connection is closed
        // with unread input, it is reset, and what the server has not read is lost.
        let _ = peers.client.request(peers.farewell(), "".into()).await;
    };
    if timeout(FAREWELL, all).await.is_err() {
        for (outbox, _) in outgoing {
            outbox.stop();
        }
    }
}
