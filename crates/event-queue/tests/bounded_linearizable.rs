//! Recorded histories of real threads are those of a bounded FIFO queue with one consumer.
//!
//! A place is in use from a push's claim until its event and those of all earlier claims are taken,
//! so "full" is about places and not about events; and a place is released within the call that
//! took its event, not at the same moment.

use std::num::NonZeroU32;
use std::sync::Mutex;

use filch_event_queue::{BoundedReceiver, BoundedSender, Refused, bounded_channel};
use linearizability::{Fifo, FifoOperation, History, Log, Recording, Rounds};

type Operation = FifoOperation<u32>;

const CAPACITY: u32 = 3;

fn push(log: &mut Log<'_, Operation>, sender: &BoundedSender<u32>, item: u32) {
    log.call(|| match sender.push(item) {
        Ok(()) => vec![Operation::Admit(item), Operation::Enter(item)],
        Err(Refused::Full(item)) => vec![Operation::Full(item)],
        Err(Refused::Closed(item)) => vec![Operation::Refused(item)],
    });
}

fn pop(log: &mut Log<'_, Operation>, receiver: &mut BoundedReceiver<u32>) {
    log.call(|| {
        let answer = receiver.pop();
        let released = answer.map(Operation::Release);
        [Operation::pop(answer)].into_iter().chain(released)
    });
}

fn drain(log: &mut Log<'_, Operation>, receiver: &mut BoundedReceiver<u32>) {
    log.call(|| {
        let mut items = Vec::new();
        receiver.drain(|item| items.push(item));
        let released: Vec<_> = items.iter().copied().map(Operation::Release).collect();
        [Operation::Drain(items)].into_iter().chain(released)
    });
}

/// Three producers and a consumer; with `closes`, it closes the queue in their midst.
fn record(
    with_one_clock: bool,
    closes: bool,
    consume: fn(&mut Log<'_, Operation>, &mut BoundedReceiver<u32>),
) -> History<Operation> {
    let capacity = NonZeroU32::new(CAPACITY).expect("it is not zero");
    let (sender, receiver) = bounded_channel(capacity);
    let receiver = Mutex::new(receiver);
    let mut recording = if with_one_clock {
        Recording::with_one_clock()
    } else {
        Recording::new()
    };
    for first in [10, 20, 30] {
        let sender = sender.clone();
        recording.thread(move |log| {
            (first..first + 4).for_each(|item| push(log, &sender, item));
        });
    }
    recording.thread(|log| {
        let receiver = &mut receiver.lock().unwrap();
        for round in 0..3 {
            consume(log, receiver);
            if closes && round == 0 {
                log.call(|| {
                    receiver.close();
                    [Operation::Close]
                });
            }
        }
    });
    recording.closing(|log| drain(log, &mut receiver.lock().unwrap()));
    recording.run()
}

fn check(closes: bool, consume: fn(&mut Log<'_, Operation>, &mut BoundedReceiver<u32>)) {
    for with_one_clock in [false, true] {
        Rounds::check(300, &Fifo::places(CAPACITY as usize), || {
            record(with_one_clock, closes, consume)
        });
    }
}

#[test]
fn pops() {
    check(false, pop);
}

#[test]
fn drains() {
    check(false, drain);
}

#[test]
fn pops_and_drains_by_turns() {
    check(false, |log, receiver| {
        pop(log, receiver);
        drain(log, receiver);
    });
}

#[test]
fn a_close_among_pushes() {
    check(true, |log, receiver| {
        pop(log, receiver);
        drain(log, receiver);
    });
}
