//! Takes packets from other nodes.

use std::io;

use filch_actors::prelude::*;
use filch_scheduler::{Node, Pid, Protocol, Receiver};
use filch_sync::panic::{catch_panic, drop_contained};

use crate::counters::Count;
use crate::lost::NodeLost;
use crate::peers::{Effects, Peers};
use crate::report::Incident;
use crate::wire::{Frame, Kind, read};

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
