//! Messages that cannot be sent come back, and packets of any bytes are counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use filch_nats::{Incident, async_nats};
use filch_scheduler::{Node, Undelivered};

use super::common::{News, Note, TestNode, await_next, eventually, next, two};
use super::server::Server;

#[test]
fn a_message_for_a_node_that_is_not_connected_comes_back() {
    let Some(server) = Server::start() else {
        return;
    };
    let (here, there) = (TestNode::new(1, &server), TestNode::new(2, &server));
    let (pid, _) = there.forward();
    let refused = here.scheduler.send(pid, Note::Number(1)).unwrap_err();
    assert_eq!(refused.reason, Undelivered::NoRoute);
    here.connect(Node(2)).unwrap();
    there.nats.leave();
    here.wait_for(News::Lost(Node(2), filch_nats::NodeLost::Left));
    let refused = here.scheduler.send(pid, Note::Number(2)).unwrap_err();
    assert_eq!((refused.to, refused.message), (pid, Note::Number(2)));
    assert_eq!(refused.reason, Undelivered::NoRoute);
    let no_route = here.nats.stats().no_route;
    assert_eq!(no_route, 1, "the one that the transport has seen");
    // By its own account it has left, too, and has no route any more.
    let (pid, _) = here.forward();
    let refused = there.scheduler.send(pid, Note::Number(3)).unwrap_err();
    assert_eq!(refused.reason, Undelivered::NoRoute);
}

#[test]
fn a_message_that_no_wire_can_carry_comes_back() {
    let Some(server) = Server::start() else {
        return;
    };
    let (here, there) = two(&server);
    let (pid, notes) = there.forward();
    // The server takes 1 MiB.
    let large = Note::Text("x".repeat(1 << 20));
    for note in [Note::Unencodable, large] {
        let refused = here.scheduler.send(pid, note.clone()).unwrap_err();
        assert_eq!(refused.reason, Undelivered::Unsendable);
        assert_eq!(refused.message, note);
    }
    here.scheduler.send(pid, Note::Number(1)).unwrap();
    assert_eq!(next(&notes), Note::Number(1));
    let stats = here.nats.stats();
    assert_eq!((stats.unsendable, stats.sent), (2, 1));
}

/// The transport's thread is kept in a call of the listener, and sends nothing. A failure: the
/// sender waits, or more is taken than there is room for, or less.
#[test]
fn a_message_that_finds_no_room_comes_back() {
    let Some(server) = Server::start() else {
        return;
    };
    // A frame is 21 bytes, and a number 9.
    let limit = 3 * 30;
    let (in_there, is_in) = mpsc::channel();
    let (let_go, may_go) = mpsc::channel::<()>();
    let may_go = std::sync::Mutex::new(may_go);
    let here = TestNode::with(1, &server, |builder| {
        builder.room(limit).on_incident(move |incident| {
            if let Incident::Garbage(_) = incident {
                in_there.send(()).unwrap();
                let _ = may_go.lock().unwrap().recv();
            }
        })
    });
    let there = TestNode::new(2, &server);
    here.connect(Node(2)).unwrap();
    let (pid, notes) = there.forward();
    publish(&server, "filch.node.1", b"what".to_vec());
    await_next("the listener to be called", &is_in);
    for number in 0..3 {
        here.send(pid, Note::Number(number)).unwrap();
    }
    let refused = here.send(pid, Note::Number(3)).unwrap_err();
    assert_eq!(refused.message, Note::Number(3));
    assert_eq!(refused.reason, Undelivered::Backlog { limit });
    assert_eq!(here.nats.stats().nodes[0].waiting, limit);
    let too_large = Note::Text("x".repeat(limit));
    let refused = here.send(pid, too_large).unwrap_err();
    // There will never be room.
    assert_eq!(refused.reason, Undelivered::Unsendable);
    drop(let_go);
    for number in 0..3 {
        assert_eq!(next(&notes), Note::Number(number));
    }
    // There is room again once the system has them.
    eventually("room", || here.send(pid, Note::Number(4)).ok());
    assert_eq!(next(&notes), Note::Number(4));
    assert!(here.nats.stats().backlog >= 1);
}

/// Publishes any bytes, from a program that is no node.
pub(crate) fn publish(server: &Server, subject: &'static str, payload: Vec<u8>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(async {
        let client = async_nats::connect(server.address()).await.unwrap();
        client.publish(subject, payload.into()).await.unwrap();
        client.flush().await.unwrap();
    });
}

/// A failure: a panic, which would end the transport's thread, or a wrong count.
#[test]
fn garbage_is_counted_and_nothing_else() {
    let Some(server) = Server::start() else {
        return;
    };
    let (here, there) = two(&server);
    let (pid, notes) = there.forward();
    let garbage: [&[u8]; 6] = [
        b"",
        b"\x01",
        b"\x00 of another version",
        b"GET / HTTP/1.1\r\n\r\n",
        &[1; 40],
        &[0xff; 1000],
    ];
    for packet in garbage {
        publish(&server, "filch.node.2", packet.to_vec());
    }
    // From a node that is not connected; for another life; from another life; from another link.
    let (own, other) = (here.nats.life().to_bits(), there.nats.life().to_bits());
    for (to, node, life, link) in [
        (other, 7, own, 1),
        (0, 1, own, 1),
        (own, 1, own, 1),
        (other, 1, other, 1),
        (other, 1, own, 2),
    ] {
        let pulse = packet(to, node, life, link, &[3, 0, 0, 0, 0]);
        publish(&server, "filch.node.2", pulse);
    }
    // An answer of NATS that nobody listens, forged by somebody else.
    publish(&server, "filch.nobody.2.1", Vec::new());
    publish(&server, "filch.nobody.2.x", Vec::new());
    // Messages of a node that cannot be decoded.
    here.scheduler.send(pid, Note::Undecodable).unwrap();
    here.scheduler.send(pid, Note::Panicking).unwrap();
    here.scheduler.send(pid, Note::Number(1)).unwrap();
    assert_eq!(next(&notes), Note::Number(1));
    // They come by several connections: some may still be on their way.
    let stats = eventually("all to be counted", || {
        Some(there.nats.stats()).filter(|stats| stats.garbage + stats.stale >= 11)
    });
    assert_eq!((stats.garbage, stats.stale), (6, 5), "{stats}");
    assert_eq!((stats.undecodable, stats.delivered), (2, 1), "{stats}");
    assert_eq!((stats.missed, stats.nodes_lost), (0, 0), "{stats}");
    // A packet that begins well, as if the node here were defective.
    let mut frames = vec![0, 25, 0, 0, 0];
    frames.extend(pid.to_bits().to_le_bytes());
    frames.extend([0, 2, 0, 0, 0, 0, 0, 0, 0]);
    frames.extend([99, 0, 0, 0, 0]);
    let mut too_long = frames.clone();
    *too_long.last_chunk_mut().unwrap() = [0, 0xff, 0xff, 0xff, 0xff];
    for frames in [&frames[..], &too_long, &frames[..30]] {
        publish(&server, "filch.node.2", packet(other, 1, own, 1, frames));
        assert_eq!(next(&notes), Note::Number(2));
    }
    assert_eq!(there.nats.stats().garbage, 8);
}

/// Makes a packet that is about the millionth of its link.
fn packet(to: u64, node: u32, life: u64, link: u32, frames: &[u8]) -> Vec<u8> {
    static PACKETS: AtomicU64 = AtomicU64::new(1_000_000);
    // ORDERING: Relaxed; only the number matters.
    let packets = PACKETS.fetch_add(1, Ordering::Relaxed);
    let mut packet = vec![1];
    packet.extend(to.to_le_bytes());
    packet.extend(node.to_le_bytes());
    packet.extend(life.to_le_bytes());
    packet.extend(link.to_le_bytes());
    packet.extend(packets.to_le_bytes());
    packet.extend([0; 8]);
    packet.extend(frames);
    packet
}
