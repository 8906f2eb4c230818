//! Monitors of processes on other nodes.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use filch_actors::prelude::*;
use filch_nats::async_nats::ConnectOptions;
use filch_nats::{Ended, Incident, NodeLost};
use filch_scheduler::{ExitReason, Node, Pid};

use super::common::{News, Note, TestNode, WHY, await_next, eventually, next, pair, two};
use super::refusals::publish;
use super::server::Server;

#[test]
fn the_end_of_a_process_elsewhere_is_told_with_its_reason() {
    let Some((here, there)) = pair() else { return };
    let (one, at_one) = here.forward();
    let told = || match await_next("a monitor to be told", &at_one) {
        Note::Ended(number, Ended::Process(reason)) => (number, reason),
        other => panic!("{other:?}"),
    };
    let send = |pid, note| here.scheduler.send(pid, note).unwrap();
    let done = |pid| send(pid, Note::Done);
    let fail = |pid| send(pid, Note::Fail);
    let terminate = |pid| there.scheduler.terminate(pid).unwrap();
    let ends: [(&dyn Fn(Pid), ExitReason); 3] = [
        (&done, ExitReason::Done),
        (&fail, ExitReason::Failed(WHY.into())),
        (&terminate, ExitReason::Terminated),
    ];
    for (number, (end, reason)) in (0..).zip(ends) {
        let (other, _) = there.forward();
        here.monitor(one, other, number);
        // The node there watches it once it has answered: the order is kept.
        here.whereis(Node(2), "").unwrap();
        end(other);
        assert_eq!(told(), (number, reason));
        here.monitor(one, other, number);
        assert_eq!(told(), (number, ExitReason::NoSuchProcess));
    }
    // Processes of the same node can be watched, too.
    let (neighbour, _) = here.forward();
    here.monitor(one, neighbour, 7);
    here.scheduler.terminate(neighbour).unwrap();
    assert_eq!(told(), (7, ExitReason::Terminated));
    here.monitor(one, neighbour, 8);
    assert_eq!(told(), (8, ExitReason::NoSuchProcess));
    // And so can those of unknown nodes.
    here.monitor(one, Pid::from_bits(9 << 96), 9);
    let not_connected = Ended::Node(NodeLost::NotConnected);
    assert_eq!(next(&at_one), Note::Ended(9, not_connected));
    assert_eq!(here.nats.stats().ended, 9);
}

#[test]
fn the_end_comes_behind_the_messages() {
    let Some((here, there)) = pair() else { return };
    let ((one, at_one), (other, _)) = (here.forward(), there.forward());
    here.monitor(one, other, 0);
    for number in 0..5000 {
        here.scheduler.send(other, Note::Echo(number, one)).unwrap();
    }
    here.scheduler.send(other, Note::Done).unwrap();
    for number in 0..5000 {
        assert_eq!(next(&at_one), Note::Number(number));
    }
    let done = Ended::Process(ExitReason::Done);
    assert_eq!(next(&at_one), Note::Ended(0, done));
}

#[test]
fn a_monitor_that_was_ended_in_time_tells_nothing() {
    let Some((here, there)) = pair() else { return };
    let ((one, at_one), (other, _)) = (here.forward(), there.forward());
    let kept = here.nats.monitor(one, other, |ended| Note::Ended(0, ended));
    let ended = here.nats.monitor(one, other, |ended| Note::Ended(1, ended));
    assert_eq!((ended.watcher(), ended.watched()), (one, other));
    assert!(here.nats.demonitor(&ended));
    assert!(!here.nats.demonitor(&ended));
    here.scheduler.send(other, Note::Done).unwrap();
    assert!(matches!(next(&at_one), Note::Ended(0, _)));
    assert!(!here.nats.demonitor(&kept));
    let local = here.nats.monitor(one, one, |ended| Note::Ended(2, ended));
    assert!(here.nats.demonitor(&local));
    assert_eq!(here.nats.stats().ended, 1);
}

/// A failure: the mailbox refuses the news and nobody brings it again, or a panic ends the
/// transport.
#[test]
fn a_full_mailbox_gets_the_news_later() {
    let Some((here, there)) = pair() else { return };
    let (other, _) = there.forward();
    let (gate, may_go) = mpsc::channel::<()>();
    let (sender, notes) = mpsc::channel();
    let slow = super::common::Slow { may_go, sender };
    let slow = here.scheduler.submission(slow, "run", ()).mailbox(1);
    let slow = slow.submit().unwrap().pid();
    here.nats.monitor(slow, other, |_| panic!("no message"));
    here.monitor(slow, other, 1);
    // The process handles the first one; the second one fills its mailbox.
    here.scheduler.send(slow, Note::Number(0)).unwrap();
    assert_eq!(next(&notes), Note::Number(0));
    here.scheduler.send(slow, Note::Number(1)).unwrap();
    here.scheduler.send(other, Note::Done).unwrap();
    eventually("both monitors to be told", || {
        let stats = here.nats.stats();
        (stats.ended + stats.panicked == 2).then_some(())
    });
    gate.send(()).unwrap();
    assert_eq!(next(&notes), Note::Number(1));
    drop(gate);
    let done = Ended::Process(ExitReason::Done);
    assert_eq!(next(&notes), Note::Ended(1, done));
    assert_eq!(here.nats.stats().panicked, 1);
}

#[test]
fn who_leaves_is_told_of_all_that_it_watched() {
    let Some((here, there)) = pair() else { return };
    let ((one, at_one), (other, at_other)) = (here.forward(), there.forward());
    let (neighbour, _) = here.forward();
    here.monitor(one, other, 0);
    there.monitor(other, one, 1);
    here.monitor(one, neighbour, 2);
    here.nats.leave();
    let told = HashSet::from([next(&at_one), next(&at_one)].map(number));
    assert_eq!(told, HashSet::from([(0, over()), (2, over())]));
    let left = Ended::Node(NodeLost::Left).to_string();
    assert_eq!(number(next(&at_other)), (1, left));
    here.monitor(one, other, 3);
    assert_eq!(number(next(&at_one)), (3, over()));
    assert!(here.connect(Node(2)).is_err());
}

fn over() -> String {
    Ended::Node(NodeLost::Over).to_string()
}

#[track_caller]
fn number(note: Note) -> (u64, String) {
    match note {
        Note::Ended(number, ended) => (number, ended.to_string()),
        other => panic!("{other:?}"),
    }
}

/// Monitors are made while the processes end, and while their node leaves. A failure: one is told
/// twice, or never.
#[test]
fn each_monitor_is_told_once_whatever_races() {
    let Some(server) = Server::start() else {
        return;
    };
    const PROCESSES: u64 = 300;
    for _ in 0..5 {
        let (here, there) = two(&server);
        let (one, at_one) = here.forward();
        let processes: Vec<_> = (0..PROCESSES).map(|_| there.forward().0).collect();
        thread::scope(|threads| {
            threads.spawn(|| {
                for (number, &pid) in (0..).zip(&processes) {
                    let message = move |ended| Note::Ended(number, ended);
                    here.nats.monitor(one, pid, message);
                }
            });
            threads.spawn(|| {
                for (number, &pid) in (0..).zip(&processes) {
                    there.scheduler.terminate(pid).unwrap();
                    if number == PROCESSES / 2 {
                        there.nats.leave();
                    }
                }
            });
        });
        let mut told = HashSet::new();
        for _ in 0..PROCESSES {
            let (number, _) = number(next(&at_one));
            assert!(told.insert(number), "{number} was told twice");
        }
        here.ends(one, &at_one);
    }
}

/// The transport here is kept from reading until more packets have come than its client keeps. A
/// failure: news lost with them is never told.
#[test]
fn news_that_was_lost_is_asked_for_again() {
    let Some(server) = Server::start() else {
        return;
    };
    let (in_there, is_in) = mpsc::channel();
    let (let_go, may_go) = mpsc::channel::<()>();
    let may_go = Mutex::new(may_go);
    let here = TestNode::with(1, &server, |builder| {
        let options = ConnectOptions::new().subscription_capacity(1);
        builder.options(options).on_incident(move |incident| {
            if let Incident::Garbage(_) = incident {
                in_there.send(()).unwrap();
                let _ = may_go.lock().unwrap_or_else(PoisonError::into_inner).recv();
            }
        })
    });
    let there = TestNode::new(2, &server);
    here.connect(Node(2)).unwrap();
    there.wait_for(News::Connected(Node(1), here.nats.life()));
    let (one, at_one) = here.forward();
    const PROCESSES: u64 = 20;
    let processes: Vec<_> = (0..PROCESSES).map(|_| there.forward().0).collect();
    for (number, &pid) in (0..).zip(&processes) {
        here.monitor(one, pid, number);
    }
    here.whereis(Node(2), "").unwrap();
    // Again and again: behind another packet its client loses this one, too.
    eventually("the listener to be called", || {
        publish(&server, "filch.node.1", b"what".to_vec());
        is_in.recv_timeout(Duration::from_millis(100)).ok()
    });
    for (sent, &pid) in (1..).zip(&processes) {
        there.scheduler.terminate(pid).unwrap();
        // It goes in a packet of its own.
        there.scheduler.send(one, Note::Number(sent)).unwrap();
        eventually("the packet to be sent", || {
            (there.nats.stats().sent == sent).then_some(())
        });
    }
    drop(let_go);
    let mut told = HashSet::new();
    let mut numbers = 0;
    while told.len() < processes.len() {
        match await_next("a monitor to be told", &at_one) {
            Note::Number(_) => numbers += 1,
            Note::Ended(number, Ended::Process(reason)) => {
                assert!(told.insert(number), "{number} was told twice");
                let is_it = [ExitReason::Terminated, ExitReason::NoSuchProcess].contains(&reason);
                assert!(is_it, "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    let stats = here.nats.stats();
    assert!(stats.missed > 0, "nothing was lost: {stats}");
    assert_eq!(stats.delivered + stats.missed, PROCESSES, "{stats}");
    assert_eq!(stats.delivered, numbers, "{stats}");
}
