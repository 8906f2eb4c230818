//! A program is killed while messages flow, or stopped; and started again as the same node.

use std::collections::HashSet;
use std::time::Duration;

use filch_nats::{Ended, NodeLost};
use filch_scheduler::{Node, Undelivered};

use super::common::{News, Note, TestNode, await_next, eventually, next};
use super::other_program::OtherProgram;
use super::server::Server;

const MONITORS: u64 = 50;

/// A failure: a taken message is not accounted for, an answer comes out of order, or a monitor is
/// told twice or never.
#[test]
fn what_was_sent_to_a_program_that_is_killed_is_accounted_for() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut there = OtherProgram::start(&server);
    let here = TestNode::with(1, &server, |builder| builder.grace(Duration::ZERO));
    here.connect(Node(2)).unwrap();
    let found = here.whereis(Node(2), "forward").unwrap();
    assert_eq!(found, Some(there.pid));
    let (watcher, told) = here.forward();
    for number in 0..MONITORS {
        here.monitor(watcher, there.pid, number);
    }
    let (one, answers) = here.forward();
    let (mut taken, mut full) = (0_u64, 0_u64);
    let mut answered = 0;
    let mut is_killed = false;
    eventually("a message to come back", || {
        match here.scheduler.send(there.pid, Note::Echo(taken, one)) {
            Ok(()) => taken += 1,
            Err(back) if back.reason == Undelivered::NoRoute => {
                assert_eq!(back.message, Note::Echo(taken, one));
                return Some(());
            }
            Err(back) => {
                assert!(matches!(back.reason, Undelivered::Backlog { .. }), "{back}");
                full += 1;
            }
        }
        while let Ok(note) = answers.try_recv() {
            assert_eq!(note, Note::Number(answered));
            answered += 1;
        }
        if answered > 1000 && !is_killed {
            there.kill();
            is_killed = true;
        }
        None
    });
    here.wait_for(News::Lost(Node(2), NodeLost::NoResponders));
    for note in answers.try_iter() {
        assert_eq!(note, Note::Number(answered));
        answered += 1;
    }
    let mut numbers = HashSet::new();
    for _ in 0..MONITORS {
        match await_next("a monitor to be told", &told) {
            Note::Ended(number, Ended::Node(NodeLost::NoResponders)) => {
                assert!(numbers.insert(number), "{number} was told twice");
            }
            other => panic!("{other:?}"),
        }
    }
    here.ends(watcher, &told);
    // The transport's thread drops what waited, a little later.
    let stats = eventually("all to be counted", || {
        Some(here.nats.stats()).filter(|stats| stats.sent + stats.dropped >= taken)
    });
    assert_eq!(stats.sent + stats.dropped, taken, "{stats}");
    assert_eq!((stats.no_route, stats.backlog), (1, full), "{stats}");
    assert_eq!(stats.delivered + stats.missed, stats.delivered, "{stats}");
    assert!(
        answered <= stats.delivered && stats.delivered <= stats.sent,
        "{stats}"
    );
    assert_eq!(stats.ended, MONITORS, "{stats}");
}

/// For the server of NATS it is still there. A failure: nobody misses its heartbeats, and a monitor
/// waits for ever.
#[test]
fn a_program_that_is_silent_is_lost() {
    let Some(server) = Server::start() else {
        return;
    };
    let there = OtherProgram::start(&server);
    let patience = Duration::from_secs(1);
    let here = TestNode::with(1, &server, |builder| builder.patience(patience));
    here.connect(Node(2)).unwrap();
    let (watcher, told) = here.forward();
    here.monitor(watcher, there.pid, 0);
    there.freeze();
    here.wait_for(News::Lost(Node(2), NodeLost::Silent));
    let silent = Note::Ended(0, Ended::Node(NodeLost::Silent));
    assert_eq!(await_next("the monitor to be told", &told), silent);
    let refused = here.scheduler.send(there.pid, Note::Number(1)).unwrap_err();
    assert_eq!(refused.reason, Undelivered::NoRoute);
}

/// The node here is patient, and does not notice the death. A failure: the message for the dead
/// process reaches the new one with the same PID.
#[test]
fn a_message_for_an_earlier_life_reaches_nobody() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut there = OtherProgram::start(&server);
    let here = TestNode::new(1, &server);
    let first = here.connect(Node(2)).unwrap();
    let (watcher, told) = here.forward();
    here.monitor(watcher, there.pid, 0);
    here.scheduler.send(there.pid, Note::Number(1)).unwrap();
    there.tell("next");
    assert_eq!(there.line(), "1");
    there.kill();
    let dead = there.pid;
    let mut there = OtherProgram::start(&server);
    assert_eq!(there.pid, dead, "the name of the dead process");
    here.scheduler.send(dead, Note::Number(2)).unwrap();
    eventually("the second message to be sent", || {
        (here.nats.stats().sent == 2).then_some(())
    });

    // The new life calls: everything of the old one is over.
    there.tell("call");
    assert_eq!(there.line(), "called");
    here.wait_for(News::Lost(Node(2), NodeLost::AnotherLife));
    let ended = Note::Ended(0, Ended::Node(NodeLost::AnotherLife));
    assert_eq!(next(&told), ended);
    let second = here.connect(Node(2)).unwrap();
    assert_ne!(first, second);
    here.scheduler.send(there.pid, Note::Number(3)).unwrap();
    there.tell("next");
    assert_eq!(there.line(), "3");
    there.tell("stats");
    let stats = there.line();
    let stale = stats.strip_prefix("1 delivered, ").unwrap();
    assert_ne!(stale, "0 stale");
    here.ends(watcher, &told);
}
