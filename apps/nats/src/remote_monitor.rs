//! Monitors of processes on other nodes.
//!
//! The watcher's node keeps the watch in the map of the watched process's node. Whatever takes it
//! out reports the end: the news of it, or the loss of the node. The node of the watched process
//! watches it with a process of its own, and sends the news behind its messages.

use std::collections::hash_map::Entry;

use filch_scheduler::{ExitReason, Node, Pid, Protocol};

use crate::lost::{Ended, NodeLost};
use crate::peers::{Effects, Peers, State};
use crate::wire::Frame;

/// A watch, to be done once, when the watched process has ended.
pub(crate) struct Watch<P: Protocol> {
    /// The process that is told.
    pub(crate) watcher: Pid,
    /// Makes the message.
    pub(crate) message: Box<dyn FnOnce(Ended) -> P::Message + Send>,
}

/// A watch whose process has ended: it was taken out of its map, so this is the only one.
pub(crate) struct Due<P: Protocol> {
    pub(crate) watch: Watch<P>,
    pub(crate) ended: Ended,
}

/// The local monitor of a process, and all watches that it serves.
pub(crate) struct Watched {
    pub(crate) monitor: filch_scheduler::Watch,
    pub(crate) by: Vec<By>,
}

/// The origin of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A monitor of this node.
    Here(u64),
    /// A monitor of another node.
    Node(Node, u64),
}

impl Watched {
    /// Removes the watches of that node. Returns true if none is left: the process is not watched
    /// any more.
    pub(crate) fn forget_node(&mut self, node: Node) -> bool {
        self.forget(|by| matches!(by, By::Node(from, _) if from == node))
    }

    pub(crate) fn forget(&mut self, which: impl Fn(By) -> bool) -> bool {
        self.by.retain(|&by| !which(by));
        let is_empty = self.by.is_empty();
        if is_empty {
            self.monitor.cancel();
        }
        is_empty
    }
}

/// One process watching another, perhaps on another node. Dropping this does not end it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RemoteMonitor {
    watcher: Pid,
    watched: Pid,
    id: u64,
}

impl RemoteMonitor {
    /// Returns the process that is told.
    pub fn watcher(&self) -> Pid {
        self.watcher
    }

    /// Returns the process that is watched.
    pub fn watched(&self) -> Pid {
        self.watched
    }
}

impl<P: Protocol> Peers<P> {
    pub(crate) fn monitor(&self, watched: Pid, watch: Watch<P>) -> RemoteMonitor {
        let mut effects = Effects::default();
        let mut state = self.lock();
        let id = state.id();
        let watcher = watch.watcher;
        let mut lost = |watch, why| {
            let ended = Ended::Node(why);
            effects.due.push(Due { watch, ended });
        };
        if state.is_over {
            lost(watch, NodeLost::Over);
        } else if watched.node() == self.node() {
            state.here.insert(id, watch);
            self.watch(&mut state, watched, By::Here(id));
        } else {
            match state.peers.get_mut(&watched.node()) {
                Some(peer) if peer.there.is_some() => {
                    peer.outbox.tell(&Frame::Watch(id, watched));
                    peer.watches.insert(id, (watched, watch));
                }
                _ => lost(watch, NodeLost::NotConnected),
            }
        }
        drop(state);
        self.have(effects);
        RemoteMonitor {
            watcher,
            watched,
            id,
        }
    }

    pub(crate) fn demonitor(&self, monitor: &RemoteMonitor) -> bool {
        let RemoteMonitor { watched, id, .. } = *monitor;
        let mut state = self.lock();
        let watch = if watched.node() == self.node() {
            Self::unwatch(&mut state, watched, By::Here(id));
            state.here.remove(&id)
        } else {
            let peer = state.peers.get_mut(&watched.node());
            peer.and_then(|peer| {
                let (_, watch) = peer.watches.remove(&id)?;
                peer.outbox.tell(&Frame::Unwatch(id, watched));
                Some(watch)
            })
        };
        // The closure is the user's, so it is dropped without the lock.
        drop(state);
        watch.is_some()
    }

    /// Has the watcher process told of the end of `pid`, unless it is already.
    fn watch(&self, state: &mut State<P>, pid: Pid, by: By) {
        let Some(&watcher) = self.watcher.get() else {
            return;
        };
        match state.watched.entry(pid) {
            Entry::Occupied(mut watched) => {
                let all = &mut watched.get_mut().by;
                if !all.contains(&by) {
                    all.push(by);
                }
            }
            Entry::Vacant(place) => {
                // If it has ended, the watcher is told so, but waits for the lock.
                let monitor = self.scheduler.monitor(watcher, pid);
                let by = vec![by];
                place.insert(Watched { monitor, by });
            }
        }
    }

    fn unwatch(state: &mut State<P>, pid: Pid, by: By) {
        if let Some(watched) = state.watched.get_mut(&pid)
            && watched.forget(|other| other == by)
        {
            state.watched.remove(&pid);
        }
    }

    /// Watches a process here for another node.
    pub(crate) fn watch_for(&self, node: Node, id: u64, pid: Pid) {
        let mut state = self.lock();
        if state.peers.contains_key(&node) {
            self.watch(&mut state, pid, By::Node(node, id));
        }
    }

    /// Ends such a watch.
    pub(crate) fn unwatch_for(&self, node: Node, id: u64, pid: Pid) {
        Self::unwatch(&mut self.lock(), pid, By::Node(node, id));
    }

    /// Tells all that watch a process of this node that it has ended.
    pub(crate) fn down(&self, down: filch_scheduler::Ended) {
        let mut effects = Effects::default();
        let mut state = self.lock();
        let watched = state.watched.remove(&down.pid);
        for by in watched.into_iter().flat_map(|watched| watched.by) {
            match by {
                By::Here(id) => {
                    let ended = Ended::Process(down.reason.clone());
                    let watch = state.here.remove(&id);
                    effects.due.extend(watch.map(|watch| Due { watch, ended }));
                }
                By::Node(node, id) => {
                    if let Some(peer) = state.peers.get(&node) {
                        peer.outbox.tell(&Frame::Ended(id, down.reason.clone()));
                    }
                }
            }
        }
        drop(state);
        self.have(effects);
    }

    /// Takes the news of that node that a process of its has ended.
    pub(crate) fn has_ended(&self, node: Node, id: u64, reason: ExitReason) {
        let mut effects = Effects::default();
        let mut state = self.lock();
        let peer = state.peers.get_mut(&node);
        // The news may be a repeat, or unwanted by now.
        if let Some((_, watch)) = peer.and_then(|peer| peer.watches.remove(&id)) {
            let ended = Ended::Process(reason);
            effects.due.push(Due { watch, ended });
        }
        drop(state);
        self.have(effects);
    }
}
