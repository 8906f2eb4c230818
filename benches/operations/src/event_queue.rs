//! The unbounded event queue: a producer's push, and the consumer's drain.

use std::hint::black_box;

use filch_event_queue::{Receiver, Sender, channel};

use crate::Measure;

/// Events that are pushed, and drained, in a round.
pub(crate) const EVENTS: u64 = 256;

fn fill(sender: &Sender<u64>) {
    for event in 0..EVENTS {
        assert!(sender.push(black_box(event)).is_ok());
    }
}

fn empty(receiver: &mut Receiver<u64>) {
    let drained = receiver.drain(|event| {
        black_box(event);
    });
    assert_eq!(drained as u64, EVENTS);
}

/// A push that no other producer competes with.
pub(crate) fn push(measure: &mut dyn Measure) {
    let (sender, mut receiver) = channel();
    while measure.goes_on() {
        measure.round(&mut || fill(&sender));
        empty(&mut receiver);
    }
}

/// An event's share of a drain of 256.
pub(crate) fn drain(measure: &mut dyn Measure) {
    let (sender, mut receiver) = channel();
    while measure.goes_on() {
        fill(&sender);
        measure.round(&mut || empty(&mut receiver));
    }
}
