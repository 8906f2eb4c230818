//! Messages between nodes.

use std::fs;
use std::path::Path;

use filch_actors::prelude::*;
use filch_nats::Ended;
use filch_scheduler::{ExitReason, Node, Pid, Undelivered};

use super::common::{News, Note, WHY, await_next, eventually, next, pair, two};
use super::server::Server;

#[test]
fn messages_go_both_ways_and_in_order() {
    let Some((here, there)) = pair() else { return };
    let ((one, at_one), (other, at_other)) = (here.forward(), there.forward());
    for number in 0..10_000 {
        here.scheduler.send(other, Note::Number(number)).unwrap();
    }
    for number in 0..10_000 {
        assert_eq!(next(&at_other), Note::Number(number));
    }
    // The other node did not call, but was called.
    there.wait_for(News::Connected(Node(1), here.nats.life()));
    there.scheduler.send(one, Note::Number(7)).unwrap();
    assert_eq!(next(&at_one), Note::Number(7));
    // A process answers.
    here.scheduler.send(other, Note::Echo(8, one)).unwrap();
    assert_eq!(next(&at_one), Note::Number(8));

    let (sent, received) = (here.nats.stats(), there.nats.stats());
    assert_eq!((sent.sent, sent.dropped, sent.no_route), (10_001, 0, 0));
    assert_eq!((received.delivered, received.missed), (10_001, 0));
    let all = sent.to_string();
    assert!(
        all.contains("10001 sent") && all.contains("node 2: life"),
        "{all}"
    );
}

#[test]
fn processes_are_found_by_name() {
    let Some((here, there)) = pair() else { return };
    let (other, at_other) = there.forward();
    there.scheduler.register("printer", other).unwrap();
    assert_eq!(here.whereis(Node(2), "printer"), Ok(Some(other)));
    assert_eq!(here.whereis(Node(2), "scanner"), Ok(None));
    assert_eq!(there.whereis(Node(2), "printer"), Ok(Some(other)));
    here.scheduler.send(other, Note::Number(1)).unwrap();
    assert_eq!(next(&at_other), Note::Number(1));
}

/// A failure: a message that the other scheduler refuses is counted as delivered, or not at all.
#[test]
fn what_the_other_scheduler_refuses_is_counted_there() {
    let Some((here, there)) = pair() else { return };
    let (ended, _) = there.forward();
    let (pid, notes) = there.forward();
    here.scheduler.send(ended, Note::Done).unwrap();
    here.scheduler.send(pid, Note::Echo(0, pid)).unwrap();
    assert_eq!(next(&notes), Note::Number(0));
    there.scheduler.terminate(ended).unwrap_err();
    here.scheduler.send(ended, Note::Number(1)).unwrap();
    let future = there.scheduler.spawn(std::future::pending::<()>()).unwrap();
    here.scheduler.send(future.pid(), Note::Number(2)).unwrap();
    // A route that was given to the wrong node by mistake.
    let route = here.scheduler.disconnect(Node(2)).unwrap();
    route
        .receive(Pid::from_bits(3 << 96), Note::Number(3))
        .unwrap();
    route.receive(pid, Note::Number(4)).unwrap();
    assert_eq!(next(&notes), Note::Number(4));
    let stats = there.nats.stats();
    assert_eq!((stats.no_such_process, stats.future), (1, 1));
    assert_eq!((stats.misrouted, stats.delivered), (1, 3));
}

#[test]
fn large_messages_travel() {
    let Some((here, there)) = pair() else { return };
    let (pid, notes) = there.forward();
    // Some are larger than a packet of several messages.
    for length in [0, 1, 60_000, 70_000, 500_000, 3] {
        let text = Note::Text("x".repeat(length));
        here.scheduler.send(pid, text.clone()).unwrap();
        assert_eq!(next(&notes), text);
    }
}

fn configure(file: &Path, max_payload: usize) {
    fs::write(file, format!("max_payload: {max_payload}\n")).unwrap();
}

/// The server comes back as one that takes less. A failure: packets too large for it are dropped.
#[test]
fn packets_are_as_small_as_the_server_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nats.conf");
    configure(&file, 1 << 20);
    let Some(mut server) = Server::start_with(&["--config", file.to_str().unwrap()]) else {
        return;
    };
    let (here, there) = two(&server);
    let (pid, notes) = there.forward();
    server.stop();
    configure(&file, 200);
    server.start_again();
    here.wait_for(News::Reconnected);
    there.wait_for(News::Reconnected);
    assert_eq!(here.whereis(Node(2), "nobody"), Ok(None));
    for number in 0..2000 {
        here.scheduler.send(pid, Note::Number(number)).unwrap();
    }
    let stats = eventually("all to be counted", || {
        Some(here.nats.stats()).filter(|stats| stats.sent + stats.dropped == 2000)
    });
    assert_eq!(stats.dropped, 0, "{stats}");
    for number in 0..2000 {
        assert_eq!(next(&notes), Note::Number(number));
    }
    // The header has 41 bytes, the frame 21.
    let note = |length: usize| Note::Text("x".repeat(length - 1));
    here.scheduler.send(pid, note(200 - 41 - 21)).unwrap();
    let refused = here.scheduler.send(pid, note(200 - 41 - 20)).unwrap_err();
    assert_eq!(refused.reason, Undelivered::Unsendable);
    assert_eq!(next(&notes), note(200 - 41 - 21));
}

/// A failure: a monitor is never told.
#[test]
fn news_that_is_too_large_is_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nats.conf");
    // A packet that watches has 70 bytes; one with the reason has 55 and the text.
    let max_payload = 80;
    assert!(55 + WHY.len() > max_payload);
    configure(&file, max_payload);
    let Some(server) = Server::start_with(&["--config", file.to_str().unwrap()]) else {
        return;
    };
    let (here, there) = two(&server);
    let ((one, at_one), (other, _)) = (here.forward(), there.forward());
    here.monitor(one, other, 0);
    assert_eq!(here.whereis(Node(2), ""), Ok(None));
    here.scheduler.send(other, Note::Fail).unwrap();
    let ended = await_next("the monitor to be told", &at_one);
    let gone = Ended::Process(ExitReason::NoSuchProcess);
    assert_eq!(ended, Note::Ended(0, gone));
}
