//! The unbounded event queue: a producer's push, and the consumer's drain.

use std::hint::black_box;

use filch_event_queue::{Receiver, Sender, channel};

use crate::Operation;
use crate::job::mark;

/// Events that are pushed, and drained, in a round.
const EVENTS: u64 = 256;

fn fill(sender: &Sender<u64>) {
    for event in 0..EVENTS {
        assert!(sender.push(black_box(event)).is_ok());
    }
}

fn drain(receiver: &mut Receiver<u64>) {
    let drained = receiver.drain(|event| {
        black_box(event);
    });
    assert_eq!(drained as u64, EVENTS);
}

/// Both ends of one queue.
#[derive(Debug)]
struct Ends {
    sender: Sender<u64>,
    receiver: Receiver<u64>,
}

impl Ends {
    fn new() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver }
    }
}

/// A push that no other producer competes with.
#[derive(Debug)]
pub struct Push(Ends);

impl Operation for Push {
    const NAME: &'static str = "event queue: push";
    const TIMES: u64 = EVENTS;

    fn new() -> Self {
        Self(Ends::new())
    }

    fn run(&mut self) {
        fill(&self.0.sender);
    }

    fn restore(&mut self) {
        drain(&mut self.0.receiver);
    }
}

/// An event's share of a drain of 256.
#[derive(Debug)]
pub struct Drain(Ends);

impl Operation for Drain {
    const NAME: &'static str = "event queue: drain, per event";
    const TIMES: u64 = EVENTS;

    fn new() -> Self {
        Self(Ends::new())
    }

    fn prepare(&mut self) {
        fill(&self.0.sender);
    }

    fn run(&mut self) {
        drain(&mut self.0.receiver);
    }
}

/// Each event is received before the next one is pushed.
pub(crate) fn one_by_one(times: u64) {
    let Ends {
        sender,
        mut receiver,
    } = Ends::new();
    for event in 0..times {
        mark(); // The road of an event begins.
        assert!(sender.push(black_box(event)).is_ok());
        assert_eq!(receiver.recv(), Some(event));
    }
}
