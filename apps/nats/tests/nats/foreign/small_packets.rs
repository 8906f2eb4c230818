//! A server that takes only small packets.

use std::fs;
use std::path::Path;

use filch_nats::Ended;
use filch_scheduler::{ExitReason, Node, Undelivered};

use super::common::{News, Note, WHY, await_next, eventually, next, two};
use super::server::Server;

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
