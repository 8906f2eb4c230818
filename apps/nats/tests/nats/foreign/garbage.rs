//! Packets of any bytes.

use std::sync::atomic::{AtomicU64, Ordering};

use super::common::{Note, eventually, next, two};
use super::refusals::publish;
use super::server::Server;

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
