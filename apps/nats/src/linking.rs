//! Connects other nodes, hands them messages, and handles their loss.
//!
//! A node that is not known is *called*, by a hello. A node from which a hello comes, or a welcome
//! to our own, is *connected*. From then on only packets of that life and that link are taken. When
//! a node is lost, everything that depends on it ends: [`lose`](Peers::lose) takes it out of the
//! map, and [`bury_all`](Peers::bury_all) does so for all nodes.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Instant;

use async_nats::{Client, connection};
use filch_actors::prelude::*;
use filch_scheduler::{Node, Pid, Protocol, Receiver, SendError, Undelivered};
use tokio::task::JoinHandle;

use crate::codec::AnyCodec;
use crate::counters::Count;
use crate::lost::{Ended, Life, NodeLost};
use crate::outbox::{NoRoom, Outbox};
use crate::outgoing::Outgoing;
use crate::peer::{Arrival, Peer, There};
use crate::peers::{Effects, Peers, State};
use crate::remote_monitor::Due;
use crate::report::{Incident, Report};
use crate::wire::{Frame, Header, Kind, begin_message, end_message};

thread_local! {
    /// The buffer in which the thread encodes its messages, one after the other.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The route to one life of a node. Once that is lost, it hands all messages back.
pub(crate) struct Link<P: Protocol> {
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) codec: Arc<dyn AnyCodec<P::Message>>,
    pub(crate) client: Client,
    pub(crate) report: Arc<Report>,
}

impl<P: Protocol> Receiver<P> for Link<P> {
    /// Takes the message if there is room for it. Waits only for other threads that copy a message
    /// into the same outbox.
    ///
    /// # Errors
    /// [`Undelivered::NoRoute`], [`Undelivered::Backlog`], [`Undelivered::Unsendable`].
    fn receive(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        self.take(to, &message).map_err(|reason| SendError {
            to,
            reason,
            message,
        })
    }
}

impl<P: Protocol> Link<P> {
    fn take(&self, to: Pid, message: &P::Message) -> Result<(), Undelivered> {
        let counters = &self.report.counters;
        let no_route = || {
            counters.add(Count::NoRoute, 1);
            Undelivered::NoRoute
        };
        if self.client.connection_state() != connection::State::Connected {
            return Err(no_route());
        }
        // The buffer is away if a codec sends a message itself, after a large message or one that
        // was not encoded, and as the thread ends.
        let mut packet = BUFFER.try_with(Cell::take).unwrap_or_default();
        begin_message(to, &mut packet);
        if let Err(error) = self.codec.encode(message, &mut packet) {
            let error = &*error;
            self.report.tell(&Incident::Unencodable { to, error });
            return Err(Undelivered::Unsendable);
        }
        end_message(&mut packet);
        if packet.len() > self.client.max_payload() {
            counters.add(Count::Unsendable, 1);
            return Err(Undelivered::Unsendable);
        }
        let offered = self.outbox.offer(&mut packet);
        let _ = BUFFER.try_with(|kept| kept.set(packet));
        offered.map_err(|refused| match refused {
            NoRoom::Over => no_route(),
            NoRoom::Full => {
                counters.add(Count::Backlog, 1);
                let limit = self.outbox.limit();
                Undelivered::Backlog { limit }
            }
            NoRoom::TooLarge => {
                counters.add(Count::Unsendable, 1);
                Undelivered::Unsendable
            }
        })
    }
}

impl<P: Protocol> Peers<P> {
    /// Calls a node; tells `caller` once it is connected or lost.
    pub(crate) fn call(&self, node: Node, caller: Sender<Result<Life, NodeLost>>) {
        let mut state = self.lock();
        if state.is_over {
            let _ = caller.send(Err(NodeLost::Over));
            return;
        }
        let is_known = state.peers.contains_key(&node);
        let peer = self.peer(&mut state, node);
        match peer.there {
            Some(there) => {
                let _ = caller.send(Ok(there.life));
            }
            None => peer.callers.push(caller),
        }
        // Without NATS, the heartbeat calls it later.
        if !is_known && self.is_connected() {
            peer.beat();
        }
    }

    /// Returns the known node, or one that now is called.
    fn peer<'a>(&self, state: &'a mut State<P>, node: Node) -> &'a mut Peer<P> {
        let link = &mut state.next_link;
        state.peers.entry(node).or_insert_with(|| {
            *link += 1;
            let outbox = Outbox::new(self.limits.room, self.client.max_payload());
            let outbox = Arc::new(outbox);
            let outgoing = Outgoing {
                outbox: Arc::clone(&outbox),
                client: self.client.clone(),
                report: Arc::clone(&self.report),
                subject: self.mail(node),
                nobody: self.nobody(&node.0.to_string()),
                header: Header::first(self.node(), self.life, *link),
            };
            Peer {
                outbox,
                outgoing: self.runtime.spawn(outgoing.run()),
                there: None,
                heard: Instant::now(),
                callers: Vec::new(),
                watches: HashMap::new(),
                questions: HashMap::new(),
            }
        })
    }

    /// Returns true if a packet is to be taken that begins with a frame of kind `first` and has so
    /// many messages. A hello or a welcome connects the node that has sent it.
    pub(crate) fn admit(&self, header: &Header, first: Option<Kind>, messages: u64) -> bool {
        let is_hello = first == Some(Kind::Hello);
        let is_for_us = header.to.map_or(is_hello, |life| life == self.life);
        let node = header.node;
        let mut state = self.lock();
        if !is_for_us || node == self.node() || state.is_over {
            return false;
        }
        let mut effects = Effects::default();
        let there = state.peers.get(&node).map(|peer| peer.there);
        let admitted = match (there, first) {
            (Some(Some(there)), _) if there.is_sender_of(header) => true,
            (Some(None), Some(Kind::Hello | Kind::Welcome)) | (None, Some(Kind::Hello)) => {
                self.establish(&mut state, header, &mut effects)
            }
            (Some(Some(there)), Some(Kind::Hello)) => {
                let why = if there.life == header.life {
                    NodeLost::Renewed
                } else {
                    NodeLost::AnotherLife
                };
                self.lose(&mut state, node, why, &mut effects);
                self.establish(&mut state, header, &mut effects)
            }
            _ => false,
        };
        let admitted = admitted && self.arrive(&mut state, header, messages, &mut effects);
        if admitted
            && is_hello
            && let Some(peer) = state.peers.get(&node)
        {
            peer.outbox.tell(&Frame::Plain(Kind::Welcome));
        }
        drop(state);
        self.have(effects);
        admitted
    }

    /// Connects the node that has sent this. Returns false if the scheduler is shut down.
    fn establish(&self, state: &mut State<P>, header: &Header, effects: &mut Effects<P>) -> bool {
        let (node, life) = (header.node, header.life);
        let peer = self.peer(state, node);
        peer.outbox.is_for(life);
        peer.there = Some(There::of(header));
        let link = Link {
            outbox: Arc::clone(&peer.outbox),
            codec: Arc::clone(&self.codec),
            client: self.client.clone(),
            report: Arc::clone(&self.report),
        };
        match self.scheduler.connect(node, link) {
            Ok(before) => effects.routes.extend(before),
            Err(_) => {
                self.lose(state, node, NodeLost::Over, effects);
                return false;
            }
        }
        for caller in peer.callers.drain(..) {
            let _ = caller.send(Ok(life));
        }
        effects.news.push(Incident::Connected { node, life });
        true
    }

    /// Takes note of a packet, and of what was lost before it. Returns false if it is late.
    fn arrive(
        &self,
        state: &mut State<P>,
        header: &Header,
        messages: u64,
        effects: &mut Effects<P>,
    ) -> bool {
        let Some(peer) = state.peers.get_mut(&header.node) else {
            return false;
        };
        let Some(there) = &mut peer.there else {
            return false;
        };
        let Arrival::Next { packets, messages } = there.arrive(header, messages) else {
            return false;
        };
        peer.heard = Instant::now();
        if packets > 0 {
            peer.resync();
        }
        if messages > 0 {
            let node = header.node;
            effects.news.push(Incident::Missed { node, messages });
        }
        true
    }

    /// Takes out a lost node, and ends everything that depends on it.
    pub(crate) fn lose(
        &self,
        state: &mut State<P>,
        node: Node,
        why: NodeLost,
        effects: &mut Effects<P>,
    ) {
        let Some(mut peer) = state.peers.remove(&node) else {
            return;
        };
        peer.outbox.stop();
        let life = peer.there.map(|there| there.life);
        effects.due.extend(peer.bury(why));
        state
            .watched
            .retain(|_, watched| !watched.forget_node(node));
        effects.news.push(Incident::Lost { node, life, why });
    }

    /// Ends this node: says goodbye to all others, and ends everything that depends on them.
    /// Returns the outboxes, and the tasks that empty them.
    pub(crate) fn bury_all(&self) -> Vec<(Arc<Outbox>, JoinHandle<()>)> {
        let mut effects = Effects::default();
        let mut outgoing = Vec::new();
        let mut state = self.lock();
        state.is_over = true;
        for (_, mut peer) in state.peers.drain() {
            peer.outbox.leave();
            effects.due.extend(peer.bury(NodeLost::Over));
            outgoing.push((peer.outbox, peer.outgoing));
        }
        for (_, watched) in state.watched.drain() {
            watched.monitor.cancel();
        }
        let ended = |(_, watch)| Due {
            watch,
            ended: Ended::Node(NodeLost::Over),
        };
        effects.due.extend(state.here.drain().map(ended));
        drop(state);
        self.have(effects);
        outgoing
    }

    /// Takes the word of NATS that nobody listens at that node.
    pub(crate) fn has_no_responders(&self, node: Node) {
        let mut effects = Effects::default();
        let mut state = self.lock();
        // After a failure of NATS the other node may come back later than this one.
        let since = state.since;
        let is_over = state.peers.get(&node).is_some_and(|peer| {
            peer.there.is_none() || peer.heard.max(since).elapsed() >= self.limits.grace
        });
        if is_over {
            self.lose(&mut state, node, NodeLost::NoResponders, &mut effects);
        }
        drop(state);
        self.have(effects);
    }

    /// Sends a heartbeat to all nodes, and loses those that were silent for too long.
    pub(crate) fn beat(&self) {
        let mut effects = Effects::default();
        let is_connected = self.is_connected();
        // ORDERING: Relaxed; only the number matters.
        let connects = self.client.statistics().connects.load(Ordering::Relaxed);
        let mut state = self.lock();
        if is_connected && connects != state.connects {
            for _ in state.connects..connects {
                effects.news.push(Incident::Reconnected);
            }
            state.connects = connects;
            state.since = Instant::now();
        }
        let is_silent = |peer: &Peer<P>| peer.heard.elapsed() >= self.limits.patience;
        let silent = state.peers.iter().filter(|(_, peer)| is_silent(peer));
        let silent: Vec<_> = silent.map(|(&node, _)| node).collect();
        for node in silent {
            self.lose(&mut state, node, NodeLost::Silent, &mut effects);
        }
        if is_connected {
            state.peers.values().for_each(Peer::beat);
        }
        drop(state);
        self.have(effects);
        self.send_late();
    }
}
