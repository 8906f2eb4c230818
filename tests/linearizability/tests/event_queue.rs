//! The event queue: recorded histories of real threads are those of a FIFO queue with one consumer.
//!
//! A drain takes all events at one moment. It may pass over an event whose push has not finished;
//! that push then has its moment after the drain. With a close, a push has two moments: it is
//! accepted, and it comes in.

use std::sync::Mutex;

use filch_event_queue::{Receiver, Sender, channel};
use linearizability::{Clocks, Fifo, FifoOperation, History, Log, Recording, Rounds};

type Operation = FifoOperation<u32>;

fn push(log: &mut Log<'_, Operation>, sender: &Sender<u32>, item: u32) {
    log.call(|| {
        sender.push(item).expect("nobody closes");
        [Operation::Push(item)]
    });
}

fn pop(log: &mut Log<'_, Operation>, receiver: &mut Receiver<u32>) {
    log.call(|| [Operation::pop(receiver.pop())]);
}

fn drain(log: &mut Log<'_, Operation>, receiver: &mut Receiver<u32>) {
    log.call(|| {
        let mut items = Vec::new();
        receiver.drain(|item| items.push(item));
        [Operation::Drain(items)]
    });
}

/// Three producers, and a consumer that runs `consume`; then the rest is drained, so that a lost
/// event is noticed.
fn check(consume: fn(&mut Log<'_, Operation>, &mut Receiver<u32>)) {
    Rounds::check(400, &Fifo::new(), |clocks| {
        let (sender, receiver) = channel();
        let receiver = Mutex::new(receiver);
        let mut recording = Recording::new(clocks);
        for first in [10, 20, 30] {
            let sender = sender.clone();
            recording.thread(move |log| {
                (first..first + 4).for_each(|item| push(log, &sender, item));
            });
        }
        recording.thread(|log| consume(log, &mut receiver.lock().unwrap()));
        recording.closing(|log| drain(log, &mut receiver.lock().unwrap()));
        recording.run()
    });
}

#[test]
fn pops() {
    check(|log, receiver| (0..8).for_each(|_| pop(log, receiver)));
}

#[test]
fn drains() {
    check(|log, receiver| (0..6).for_each(|_| drain(log, receiver)));
}

#[test]
fn pops_and_drains_by_turns() {
    check(|log, receiver| {
        for _ in 0..3 {
            pop(log, receiver);
            pop(log, receiver);
            drain(log, receiver);
        }
    });
}

/// Two producers, and a close among their pushes: no push that begins after the close is accepted,
/// none that returned before it was refused, and each accepted event is delivered.
fn record_close(clocks: Clocks) -> History<Operation> {
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let mut recording = Recording::new(clocks);
    for first in [10, 20] {
        let sender = sender.clone();
        recording.thread(move |log| {
            for item in first..first + 4 {
                log.call(|| match sender.push(item) {
                    Ok(()) => vec![Operation::Admit(item), Operation::Enter(item)],
                    Err(refused) => vec![Operation::Refused(refused.into_inner())],
                });
            }
        });
    }
    recording.thread(|log| {
        let receiver = &mut receiver.lock().unwrap();
        drain(log, receiver);
        log.call(|| {
            receiver.close();
            [Operation::Close]
        });
        pop(log, receiver);
        drain(log, receiver);
    });
    recording.closing(|log| drain(log, &mut receiver.lock().unwrap()));
    recording.run()
}

#[test]
fn a_close_among_pushes() {
    Rounds::check(600, &Fifo::new(), record_close);
}
