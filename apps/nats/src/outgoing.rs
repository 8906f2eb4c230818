//! The task that sends the packets for one node.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use async_nats::{Client, Subject};

use crate::counters::Count;
use crate::outbox::{Outbox, Packet};
use crate::report::Report;
use crate::wire::Header;

/// The end of the queue that packets are taken from.
pub(crate) struct Outgoing {
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) client: Client,
    pub(crate) report: Arc<Report>,
    /// The subject of the node's mail.
    pub(crate) subject: Subject,
    /// The subject on which NATS says that nobody listens there.
    pub(crate) nobody: Subject,
    /// The header of the next packet.
    pub(crate) header: Header,
}

/// The end: nothing more can be sent, or should be.
struct Stopped;

impl Outgoing {
    /// Sends packets until it is told to stop or has said goodbye.
    pub(crate) async fn run(mut self) {
        let mut packets = VecDeque::new();
        let mut is_over = false;
        while !is_over {
            let filled = self.outbox.filled.notified();
            if self.unless_stopped(filled).await.is_err() {
                break;
            }
            packets = self.take();
            is_over = packets.iter().any(|packet| packet.is_last);
            if self.send(&mut packets).await.is_err() {
                break;
            }
        }
        self.outbox.stop();
        packets.append(&mut self.take());
        let messages = packets.iter().map(|packet| packet.messages).sum();
        self.report.counters.add(Count::Dropped, messages);
    }

    fn take(&self) -> VecDeque<Packet> {
        self.outbox.take(self.client.max_payload())
    }

    /// Sends these packets, and waits until the system has them; others gather meanwhile. Packets
    /// left in the queue were not sent.
    async fn send(&mut self, packets: &mut VecDeque<Packet>) -> Result<(), Stopped> {
        let room = packets.iter().map(|packet| packet.room).sum();
        while let Some(packet) = packets.front_mut() {
            let to = self.outbox.there.get().copied();
            Header { to, ..self.header }.put(&mut packet.bytes);
            let payload = mem::take(&mut packet.bytes).into();
            let subject = self.subject.clone();
            let sent = if packet.asks {
                let nobody = self.nobody.clone();
                let publish = self.client.publish_with_reply(subject, nobody, payload);
                self.unless_stopped(publish).await?
            } else {
                let publish = self.client.publish(subject, payload);
                self.unless_stopped(publish).await?
            };
            // If it is refused, the other node notices the gap, and both repeat what the other must
            // know.
            self.header.packets += 1;
            if sent.is_ok() {
                self.header.messages += packet.messages;
                self.report.counters.add(Count::Sent, packet.messages);
            } else {
                // The server has become one that takes less, or is gone for good.
                self.report.counters.add(Count::Dropped, packet.messages);
            }
            packets.pop_front();
        }
        // Without a connection, this waits for one. It does not fail while there may be one.
        let flush = self.client.flush();
        let _ = self.unless_stopped(flush).await?;
        self.outbox.give_back(room);
        Ok(())
    }

    async fn unless_stopped<T>(&self, done: impl Future<Output = T>) -> Result<T, Stopped> {
        tokio::select! {
            biased;
            () = self.outbox.stop.notified() => Err(Stopped),
            done = done => Ok(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Outgoing;
    use crate::lost::Life;
    use crate::outbox::Outbox;
    use crate::report::Report;
    use crate::wire::{Header, begin_message, end_message};
    use async_nats::ConnectOptions;
    use filch_scheduler::{Node, Pid};
    use std::sync::Arc;

    /// The client keeps one packet, as there is no server. A failure: an uncounted message, in a
    /// packet that waits for the client or in one that gathers meanwhile.
    #[test]
    fn what_waits_when_it_is_stopped_is_counted_as_dropped() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(async {
            let options = ConnectOptions::new().retry_on_initial_connect();
            let client = options.client_capacity(1).connect("127.0.0.1:1").await;
            let client = client.unwrap();
            let outbox = Arc::new(Outbox::new(usize::MAX, client.max_payload()));
            let offer_three = || {
                for length in [20_000, 20_000, 9] {
                    let mut packet = Vec::new();
                    begin_message(Pid::from_bits(1), &mut packet);
                    packet.resize(packet.len() + length, 0);
                    end_message(&mut packet);
                    outbox.offer(&mut packet).unwrap();
                }
            };
            offer_three();
            let life = Life::begin();
            let report = Arc::new(Report::new(None));
            let outgoing = Outgoing {
                outbox: Arc::clone(&outbox),
                client,
                report: Arc::clone(&report),
                subject: "mail".into(),
                nobody: "nobody".into(),
                header: Header::first(Node(1), life, 1),
            };
            let task = tokio::spawn(outgoing.run());
            let counted = || {
                let stats = report.counters.stats(Node(1), life, false, Vec::new());
                (stats.sent, stats.dropped)
            };
            // The task runs until it waits.
            tokio::task::yield_now().await;
            assert_eq!(counted(), (1, 0));
            offer_three();
            outbox.stop();
            task.await.unwrap();
            assert_eq!(counted(), (1, 5));
        });
    }
}
