//! A program is killed and started again as the same node. Its processes have the same PIDs.

use filch_nats::{Ended, NodeLost};
use filch_scheduler::Node;

use super::common::{News, Note, TestNode, eventually, next};
use super::other_program::OtherProgram;
use super::server::Server;

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
