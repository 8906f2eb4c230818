//! The example `chat`, in both of its terminals.

use std::sync::mpsc;
use std::thread;

use filch_scheduler::Node;

use super::common::{await_next, eventually};
use super::server::Server;

#[expect(dead_code, reason = "its main is for terminals")]
#[path = "../../../examples/chat.rs"]
mod example;

use example::{Happening, talk};

#[test]
fn two_terminals_talk() {
    let Some(server) = Server::start() else {
        return;
    };
    let terminal = |own, other| {
        let (sender, happenings) = mpsc::channel();
        let (printer, printed) = mpsc::channel();
        let (typed, server) = (sender.clone(), server.address());
        let talk = move || {
            let print = |line| printer.send(line).unwrap();
            talk([Node(own), Node(other)], &server, sender, happenings, print).unwrap();
        };
        (thread::spawn(talk), typed, printed)
    };
    let say = |typed: &mpsc::Sender<_>, text: &str| {
        typed.send(Happening::Typed(text.to_owned())).unwrap();
    };
    let expect = |printed: &mpsc::Receiver<String>, line: &str| {
        assert_eq!(await_next(line, printed), line);
    };
    let (one, typed_at_one, at_one) = terminal(1, 2);
    expect(&at_one, "node 2 is not there yet");
    say(&typed_at_one, "is anybody there?");
    expect(&at_one, "nobody is there yet");
    let (two, typed_at_two, at_two) = terminal(2, 1);
    expect(&at_two, "node 1 is there; what do you say?");
    expect(&at_one, "2: hello");
    say(&typed_at_one, "who are you?");
    expect(&at_two, "1: who are you?");
    say(&typed_at_two, "node 2");
    typed_at_two.send(Happening::InputEnded).unwrap();
    expect(&at_one, "2: node 2");
    let gone = "the other one is gone: its node is lost: it has left";
    expect(&at_one, gone);
    eventually("both to end", || {
        (one.is_finished() && two.is_finished()).then_some(())
    });
    one.join().unwrap();
    two.join().unwrap();
}
