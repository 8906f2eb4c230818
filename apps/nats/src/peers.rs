//! The state of a transport: the other nodes, the means to reach them, and packets that come.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_nats::connection::State as Connection;
use async_nats::{Client, Subject};
use filch_actors::prelude::*;
use filch_scheduler::{Handle, Node, Pid, Protocol, Receiver, SendError, Undelivered};
use filch_sync::panic::{catch_panic, drop_contained};
use filch_sync::{Mutex, MutexGuard, lock};
use tokio::sync::Notify;

use crate::codec::AnyCodec;
use crate::counters::{Count, Stats};
use crate::lost::{Life, NodeLost};
use crate::peer::Peer;
use crate::remote_monitor::{Due, Watch, Watched};
use crate::report::{Incident, Report};
use crate::wire::{Frame, Kind, read};

/// The limits that the builder sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) room: usize,
    pub(crate) heartbeat: Duration,
    pub(crate) patience: Duration,
    pub(crate) grace: Duration,
}

/// The other nodes, and the means to reach them.
pub(crate) struct Peers<P: Protocol> {
    pub(crate) scheduler: Handle<P>,
    pub(crate) codec: Arc<dyn AnyCodec<P::Message>>,
    pub(crate) client: Client,
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) report: Arc<Report>,
    pub(crate) prefix: Box<str>,
    pub(crate) life: Life,
    pub(crate) limits: Limits,
    /// The process of the scheduler that is told of ends here.
    pub(crate) watcher: OnceLock<Pid>,
    pub(crate) state: Mutex<State<P>>,
    /// Messages of monitors for which the watcher's mailbox had no room.
    pub(crate) late: Mutex<Vec<(Pid, P::Message)>>,
    /// Notified when the transport should end.
    pub(crate) leave: Notify,
}

/// The state under the lock. No user code runs under it.
pub(crate) struct State<P: Protocol> {
    pub(crate) peers: HashMap<Node, Peer<P>>,
    /// The processes here that are watched, from elsewhere or from here.
    pub(crate) watched: HashMap<Pid, Watched>,
    /// The monitors of processes here.
    pub(crate) here: HashMap<u64, Watch<P>>,
    /// The number of the next monitor or question.
    pub(crate) next_id: u64,
    pub(crate) next_link: u32,
    /// The number of connections made to NATS, and the time of the last.
    pub(crate) connects: u64,
    pub(crate) since: Instant,
    /// True once nothing new may begin.
    pub(crate) is_over: bool,
}

impl<P: Protocol> State<P> {
    pub(crate) fn new() -> Self {
        Self {
            peers: HashMap::new(),
            watched: HashMap::new(),
            here: HashMap::new(),
            next_id: 0,
            next_link: 0,
            connects: 1,
            since: Instant::now(),
            is_over: false,
        }
    }

    pub(crate) fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}

/// Work that is left until the lock is free, as it calls user code.
pub(crate) struct Effects<P: Protocol> {
    pub(crate) due: Vec<Due<P>>,
    pub(crate) news: Vec<Incident<'static>>,
    pub(crate) routes: Vec<Arc<dyn Receiver<P>>>,
}

impl<P: Protocol> Default for Effects<P> {
    fn default() -> Self {
        Self {
            due: Vec::new(),
            news: Vec::new(),
            routes: Vec::new(),
        }
    }
}

impl<P: Protocol> Peers<P> {
    pub(crate) fn node(&self) -> Node {
        self.scheduler.node()
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == Connection::Connected
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State<P>> {
        lock(&self.state)
    }

    /// Returns the subject of a node's mail.
    pub(crate) fn mail(&self, node: Node) -> Subject {
        format!("{}.node.{}", self.prefix, node.0).into()
    }

    /// Returns the subject on which NATS says that nobody takes this node's mail to `node`.
    pub(crate) fn nobody(&self, node: &str) -> Subject {
        format!("{}.nobody.{}.{node}", self.prefix, self.node().0).into()
    }

    /// Returns a subject to which nobody listens.
    pub(crate) fn farewell(&self) -> Subject {
        format!("{}.farewell.{}", self.prefix, self.node().0).into()
    }

    /// Does the work that was left until the lock is free.
    pub(crate) fn have(&self, effects: Effects<P>) {
        for incident in &effects.news {
            self.report.tell(incident);
        }
        for Due { watch, ended } in effects.due {
            match catch_panic(|| (watch.message)(ended)) {
                Ok(message) => {
                    self.report.counters.add(Count::Ended, 1);
                    self.send_ended(watch.watcher, message);
                }
                Err(panic) => self.report.tell(&Incident::Panicked(&panic)),
            }
        }
        effects.routes.into_iter().for_each(drop_contained);
    }

    /// Sends the message of a monitor. A full mailbox gets it later.
    fn send_ended(&self, to: Pid, message: P::Message) {
        match self.scheduler.send(to, message) {
            Ok(()) => {}
            Err(SendError {
                reason: Undelivered::Full { .. },
                message,
                ..
            }) => lock(&self.late).push((to, message)),
            Err(refused) => drop_contained(refused),
        }
    }

    /// Sends again the messages that a full mailbox refused.
    pub(crate) fn send_late(&self) {
        let late = std::mem::take(&mut *lock(&self.late));
        for (to, message) in late {
            self.send_ended(to, message);
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        let state = self.lock();
        let nodes = state.peers.iter().map(|(&node, peer)| peer.stats(node));
        let mut nodes: Vec<_> = nodes.collect();
        drop(state);
        nodes.sort_by_key(|stats| stats.node);
        let counters = &self.report.counters;
        counters.stats(self.node(), self.life, self.is_connected(), nodes)
    }
}

impl<P: Protocol> Peers<P> {
    /// Takes a packet, or whatever the bytes are.
    pub(crate) fn take_in(&self, packet: &[u8]) {
        let (header, frames) = match read(packet) {
            Ok(packet) => packet,
            Err(garbage) => return self.report.tell(&Incident::Garbage(garbage)),
        };
        let is_message = |frame: &Result<_, _>| matches!(frame, Ok(Frame::Message { .. }));
        let messages = frames.clone().filter(is_message).count() as u64;
        let (node, life) = (header.node, header.life);
        if !self.admit(&header, frames.next_kind(), messages) {
            return self.report.tell(&Incident::Stale { node, life });
        }
        for frame in frames {
            match frame {
                Ok(frame) => self.take_frame(node, frame),
                Err(garbage) => self.report.tell(&Incident::Garbage(garbage)),
            }
        }
    }

    fn take_frame(&self, from: Node, frame: Frame<'_>) {
        match frame {
            Frame::Message { to, bytes } => self.take_message(to, bytes),
            Frame::Watch(id, pid) => self.watch_for(from, id, pid),
            Frame::Unwatch(id, pid) => self.unwatch_for(from, id, pid),
            Frame::Ended(id, reason) => self.has_ended(from, id, reason),
            Frame::WhereIs(id, name) => {
                let pid = self.scheduler.whereis(name);
                if let Some(peer) = self.lock().peers.get(&from) {
                    peer.outbox.tell(&Frame::Here(id, pid));
                }
            }
            Frame::Here(id, pid) => {
                let mut state = self.lock();
                let peer = state.peers.get_mut(&from);
                if let Some(question) = peer.and_then(|peer| peer.questions.remove(&id)) {
                    let _ = question.asker.send(Ok(pid));
                }
            }
            Frame::Plain(Kind::Leaving) => {
                let mut effects = Effects::default();
                self.lose(&mut self.lock(), from, NodeLost::Left, &mut effects);
                self.have(effects);
            }
            Frame::Plain(Kind::Resync) => {
                if let Some(peer) = self.lock().peers.get(&from) {
                    peer.say_again();
                }
            }
            // Admitting the packet was all that these ask for.
            Frame::Plain(_) => {}
        }
    }

    fn take_message(&self, to: Pid, bytes: &[u8]) {
        let undecodable = |error| self.report.tell(&Incident::Undecodable { to, error });
        let message = match catch_panic(|| self.codec.decode(bytes)) {
            Ok(Ok(message)) => message,
            Ok(Err(error)) => return undecodable(&*error),
            Err(panic) => return undecodable(&io::Error::other(panic)),
        };
        // Counted first, so that the process that gets it finds it counted.
        self.report.counters.add(Count::Delivered, 1);
        if let Err(refused) = self.scheduler.receive(to, message) {
            self.report.counters.take_back(Count::Delivered);
            let reason = refused.reason;
            self.report.tell(&Incident::Undelivered { to, reason });
            drop_contained(refused);
        }
    }
}
