//! The server of NATS is down for a while, or a scheduler is shut down while messages flow.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use filch_nats::{Ended, NodeLost};
use filch_scheduler::{Node, Pid, Undelivered};

use super::common::{
    News, Note, TestNode, await_next, eventually, next, pair, send_until_cut_off, two,
};
use super::server::Server;

/// Two hours of patience: the link outlives the server. A failure: a taken message is neither
/// delivered nor counted as missed, or comes twice or out of order.
#[test]
fn messages_go_on_when_the_server_is_back() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let (here, there) = two(&server);
    let (pid, notes) = there.forward();
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..2 {
        for _ in 0..1000 {
            here.scheduler.send(pid, Note::Number(taken)).unwrap();
            taken += 1;
        }
        server.stop();
        taken = send_until_cut_off(&here, pid, taken);
        refused += 1;
        server.start_again();
        here.wait_for(News::Reconnected);
        there.wait_for(News::Reconnected);
        // Each is asked again for what was lost, so both hear each other.
        assert_eq!(here.whereis(Node(2), "nobody"), Ok(None));
        assert_eq!(there.whereis(Node(1), "nobody"), Ok(None));
    }
    here.scheduler
        .send(pid, Note::Text("last".to_owned()))
        .unwrap();
    let mut numbers = Vec::new();
    while let Note::Number(number) = next(&notes) {
        numbers.push(number);
    }
    assert!(numbers.is_sorted_by(|one, next| one < next));
    let (sent, received) = (here.nats.stats(), there.nats.stats());
    assert_eq!((sent.sent, sent.dropped), (taken + 1, 0), "{sent}");
    let counts = (sent.no_route, sent.reconnects, sent.nodes_lost);
    assert_eq!(counts, (refused, 2, 0), "{sent}");
    assert_eq!(received.delivered, numbers.len() as u64 + 1, "{received}");
    let came = received.delivered + received.missed;
    assert_eq!(came, sent.sent, "{received}");
    let counts = (received.reconnects, received.nodes_lost);
    assert_eq!(counts, (2, 0), "{received}");
}

/// A failure: a monitor waits for as long as the server is down.
#[test]
fn monitors_do_not_wait_for_the_server_to_come_back() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let patience = Duration::from_millis(300);
    let here = TestNode::with(1, &server, |builder| builder.patience(patience));
    let there = TestNode::new(2, &server);
    here.connect(Node(2)).unwrap();
    let ((one, at_one), (other, at_other)) = (here.forward(), there.forward());
    for number in 0..10 {
        here.monitor(one, other, number);
        there.monitor(other, one, number);
    }
    server.stop();
    here.wait_for(News::Lost(Node(2), NodeLost::Silent));
    told_once(&here, one, &at_one, NodeLost::Silent);
    let refused = here.scheduler.send(other, Note::Number(1)).unwrap_err();
    assert_eq!(refused.reason, Undelivered::NoRoute);

    // The other node is more patient, and learns of it by the new connection.
    server.start_again();
    here.wait_for(News::Reconnected);
    there.wait_for(News::Reconnected);
    eventually("the other node to be reached again", || {
        here.connect(Node(2)).ok()
    });
    there.wait_for(News::Lost(Node(1), NodeLost::Renewed));
    told_once(&there, other, &at_other, NodeLost::Renewed);
    here.scheduler.send(other, Note::Echo(5, one)).unwrap();
    assert_eq!(next(&at_one), Note::Number(5));
}

/// Checks that ten monitors are told, once each: a message sent to the watcher then comes behind.
#[track_caller]
fn told_once(node: &TestNode, to: Pid, notes: &Receiver<Note>, why: NodeLost) {
    let mut told: Vec<_> = (0..10)
        .map(|_| await_next("a monitor to be told", notes))
        .collect();
    told.sort_by_key(|note| match note {
        Note::Ended(number, _) => *number,
        other => panic!("{other:?}"),
    });
    let ended = |number| Note::Ended(number, Ended::Node(why));
    assert_eq!(told, (0..10).map(ended).collect::<Vec<_>>());
    node.ends(to, notes);
}

/// A failure: the shutdown waits for the transport, a lost message is not accounted for, or the
/// other node is not told.
#[test]
fn a_scheduler_that_is_shut_down_says_goodbye() {
    let Some((here, there)) = pair() else { return };
    let (one, at_one) = here.forward();
    let (other, notes) = there.forward();
    here.monitor(one, other, 0);
    let TestNode {
        nats, scheduler, ..
    } = there;
    let (taken, mut down) = std::thread::scope(|threads| {
        let down = threads.spawn(move || {
            for _ in 0..1000 {
                next(&notes);
            }
            let report = scheduler.shutdown(Duration::from_secs(30)).unwrap();
            assert!(report.is_clean(), "{report}");
            notes
        });
        let taken = send_until_cut_off(&here, other, 0);
        (taken, down.join().unwrap().into_iter())
    });
    here.wait_for(News::Lost(Node(2), NodeLost::Left));
    match next(&at_one) {
        Note::Ended(0, Ended::Process(_) | Ended::Node(NodeLost::Left)) => {}
        other => panic!("{other:?}"),
    }
    // This ends the whole transport, with its thread.
    nats.leave();
    let stats = eventually("all to be counted", || {
        Some(here.nats.stats()).filter(|stats| stats.sent + stats.dropped >= taken)
    });
    assert_eq!(stats.sent + stats.dropped, taken, "{stats}");
    assert!(down.all(|note| matches!(note, Note::Number(_))));
    let received = nats.stats();
    let came = received.delivered + received.no_such_process + received.missed;
    assert!(came <= stats.sent, "{received}");
    assert_eq!(stats.ended, 1);
}

/// A failure: a thread or a scheduler is kept.
#[test]
fn a_transport_that_is_dropped_ends() {
    let Some((here, there)) = pair() else { return };
    let (pid, _) = here.forward();
    let TestNode {
        nats, scheduler, ..
    } = there;
    drop(nats.clone());
    drop(nats);
    here.wait_for(News::Lost(Node(2), NodeLost::Left));
    // It says goodbye before it ends.
    let refused = eventually("a refusal", || scheduler.send(pid, Note::Number(1)).err());
    assert_eq!(refused.reason, Undelivered::NoRoute);
    eventually("the watcher to end", || {
        (scheduler.live() == 0).then_some(())
    });
}
