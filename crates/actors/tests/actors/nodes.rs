//! Messages to other nodes.

use std::sync::Arc;
use std::time::Duration;

use filch_actors::prelude::*;
use filch_scheduler::{Handle, Node, Pid, Receiver, Scheduler, SendError, Undelivered};

use crate::common::{Test, summing};
use crate::timers::{SECOND, fake};

fn on_node(node: u32) -> Scheduler<Test> {
    Scheduler::builder()
        .workers(1)
        .node(Node(node))
        .build()
        .unwrap()
}

#[test]
fn messages_reach_processes_on_a_connected_node() {
    let (here, there) = (on_node(1), on_node(2));
    let process = there.submit(summing(2), "run", 0).unwrap();
    let pid = process.pid();
    assert_eq!((pid.node(), here.node()), (Node(2), Node(1)));

    let refused = here.send(pid, (0, 1)).unwrap_err();
    assert_eq!((refused.to, refused.message), (pid, (0, 1)));
    assert_eq!(refused.reason, Undelivered::NoRoute);

    assert!(here.connect(Node(2), there.handle()).unwrap().is_none());
    here.send(pid, (0, 1)).unwrap();
    // A PID that travelled as a number is the same.
    here.send(Pid::from_bits(pid.to_bits()), (0, 2)).unwrap();
    assert_eq!(process.join().unwrap(), 3);
    let refused = here.send(pid, (0, 3)).unwrap_err();
    assert_eq!(
        refused.reason,
        Undelivered::NoSuchProcess,
        "the other node's word"
    );

    assert!(here.disconnect(Node(2)).is_some());
    assert!(here.disconnect(Node(2)).is_none());
    assert_eq!(
        here.send(pid, (0, 3)).unwrap_err().reason,
        Undelivered::NoRoute
    );
}

#[test]
fn a_pid_of_this_node_is_never_sent_away() {
    struct Nowhere;
    impl Receiver<Test> for Nowhere {
        fn receive(&self, to: Pid, _: (usize, u64)) -> Result<(), SendError<Test>> {
            panic!("{to} was sent away")
        }
    }
    let (here, neighbour) = (on_node(1), on_node(1));
    here.connect(Node(1), Nowhere).unwrap();
    let process = here.submit(summing(1), "run", 0).unwrap();
    let pid = process.pid();
    here.send(pid, (0, 1)).unwrap();
    assert_eq!(process.join().unwrap(), 1);
    assert_eq!(
        here.send(pid, (0, 1)).unwrap_err().reason,
        Undelivered::NoSuchProcess
    );
    // Another scheduler on the same node: its PIDs mean no process here.
    let process = neighbour.submit(summing(1), "run", 0).unwrap();
    let refused = here.send(process.pid(), (0, 1)).unwrap_err();
    assert_eq!(refused.reason, Undelivered::NoSuchProcess);
}

/// The same scheduler number, slot and generation on another node mean another process.
#[test]
fn only_the_node_differs() {
    let here = on_node(1);
    let process = here.submit(summing(1), "run", 0).unwrap();
    let twin = Pid::from_bits(process.pid().to_bits() ^ (3 << 96));
    assert_eq!(twin.node(), Node(2));
    assert_eq!(
        here.send(twin, (0, 1)).unwrap_err().reason,
        Undelivered::NoRoute
    );
    here.send(process.pid(), (0, 2)).unwrap();
    assert_eq!(process.join().unwrap(), 2);
}

/// A receiver whose drop can be seen.
struct Wire(
    Handle<Test>,
    #[expect(dead_code, reason = "it is there to be dropped")] Arc<()>,
);

impl Receiver<Test> for Wire {
    fn receive(&self, to: Pid, message: (usize, u64)) -> Result<(), SendError<Test>> {
        self.0.send(to, message)
    }
}

#[test]
fn receivers_are_let_go_of_at_the_shutdown() {
    let payload = Arc::new(());
    let here = on_node(1);
    let handle = here.handle();
    let wire = Wire(handle.clone(), Arc::clone(&payload));
    here.connect(Node(2), wire).unwrap();
    drop(here);
    assert_eq!(Arc::strong_count(&payload), 1);
    drop(handle);
}

/// Numbers from elsewhere: the slot is there, and vacant; its next occupant will have that very
/// name. (If that life is over by then, nobody would know of it, nor of the mailbox's limit.)
#[test]
fn a_pid_of_a_process_that_is_yet_to_come_reaches_nobody() {
    let here = on_node(1);
    let pid = |slot: u128, generation: u128, any: Pid| {
        Pid::from_bits(any.to_bits() >> 64 << 64 | slot << 32 | generation)
    };
    let mut any = None;
    for _ in 0..20 {
        let process = here.submit(summing(0), "run", 0).unwrap();
        any = Some(process.pid());
        process.join().unwrap();
        here.wait_for_standstill().unwrap();
    }
    let mut guesses = (0..100)
        .flat_map(|slot| (0..30).map(move |generation| (slot, generation)))
        .map(|(slot, generation)| pid(slot, generation, any.unwrap()));
    assert!(guesses.all(|guess| here.send(guess, (0, 40)).is_err()));
    for _ in 0..10 {
        let process = here.submission(summing(1), "run", 0).mailbox(1);
        let process = process.submit().unwrap();
        here.send(process.pid(), (0, 2)).unwrap();
        assert_eq!(process.join().unwrap(), 2);
    }
}

/// Handles take messages for their own node only. So schedulers connected in a ring are no trap:
/// neither for a process that does not exist, nor for one on a neighbour.
#[test]
fn a_ring_of_handles_does_not_send_in_circles() {
    let ring = [1, 2, 3].map(on_node);
    for (here, next) in [(0, 1), (1, 2), (2, 0)] {
        for node in [1, 2, 3, 4].map(Node) {
            let connected = ring[here].connect(node, ring[next].handle());
            assert!(connected.unwrap().is_none());
        }
    }
    let nobody = Pid::from_bits(4 << 96);
    let beyond = ring[2].submit(summing(1), "run", 0).unwrap();
    for pid in [nobody, beyond.pid()] {
        let refused = ring[0].send(pid, (0, 7)).unwrap_err();
        assert_eq!((refused.to, refused.message), (pid, (0, 7)));
        assert_eq!(refused.reason, Undelivered::Misrouted { node: Node(2) });
    }
    ring[1].send(beyond.pid(), (0, 7)).unwrap();
    assert_eq!(beyond.join().unwrap(), 7);
}

/// Two schedulers that have each other as receivers would keep each other for ever.
#[test]
fn nobody_is_connected_to_a_scheduler_that_is_shut_down() {
    let payload = Arc::new(());
    let ring = [1, 2].map(on_node);
    let handles = [0, 1].map(|here| ring[here].handle());
    drop(ring);
    for (here, there) in [(0, 1), (1, 0)] {
        let wire = Wire(handles[there].clone(), Arc::clone(&payload));
        let refused = handles[here].connect(Node(9), wire).unwrap_err();
        assert_eq!(refused.node, Node(9));
        assert_eq!(refused.receiver.0.node(), handles[there].node());
    }
    drop(handles);
    assert_eq!(Arc::strong_count(&payload), 1);
}

/// A failure: the timer is pending for as long as its `Timers` live, and keeps its scheduler; or it
/// gives up while there may be a route.
#[test]
fn an_interval_to_another_node_is_over_when_there_can_be_no_route() {
    let (clock, timers) = fake();
    let (here, there) = (on_node(1), on_node(2));
    let process = there.submit(summing(2), "run", 0).unwrap();
    timers
        .interval(SECOND, &here, process.pid(), || (0, 1))
        .unwrap();
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 1, "nobody is connected yet");
    assert!(here.connect(Node(2), there.handle()).unwrap().is_none());
    clock.advance(SECOND);
    assert!(here.disconnect(Node(2)).is_some());
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 1, "somebody may be connected again");
    assert!(here.connect(Node(2), there.handle()).unwrap().is_none());
    clock.advance(SECOND);
    assert_eq!(process.join().unwrap(), 2);

    let process = there.submit(summing(1), "run", 0).unwrap();
    timers
        .interval(SECOND, &here, process.pid(), || (0, 1))
        .unwrap();
    clock.advance(SECOND / 2);
    assert!(here.shutdown(Duration::ZERO).is_ok());
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 0, "nobody can be connected any more");
    assert!(!process.has_ended());
}
