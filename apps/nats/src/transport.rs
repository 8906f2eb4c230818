//! The transport's thread: packets that come, heartbeats, and the end.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Message, Subscriber};
use filch_scheduler::{Node, Protocol};
use futures_util::StreamExt as _;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::peers::Peers;

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
