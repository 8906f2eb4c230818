//! Messages that cannot be sent come back.

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
