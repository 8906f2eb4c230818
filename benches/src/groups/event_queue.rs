//! Many producers, one consumer. Nobody's queue is bounded, and the consumer always takes all that it finds.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::mpsc;

use crossbeam_queue::SegQueue;
use filch_event_queue as filch;

use crate::harness::{Effort, Patience, Scenario, per_operation, time, time_together};

/// Events that one burst pushes before it is drained.
const BURST: u64 = 64;

/// What the scenarios need from a queue.
trait Queue {
    type Sender: Clone + Send;
    type Receiver: Send;

    fn new() -> (Self::Sender, Self::Receiver);
    fn push(sender: &Self::Sender, event: u64);
    fn pop(receiver: &mut Self::Receiver) -> Option<u64>;

    /// Takes what is there, until there is nothing; returns how many.
    fn drain(receiver: &mut Self::Receiver, mut sink: impl FnMut(u64)) -> u64 {
        let mut taken = 0;
        while let Some(event) = Self::pop(receiver) {
            sink(event);
            taken += 1;
        }
        taken
    }
}

struct Filch;

impl Queue for Filch {
    type Sender = filch::Sender<u64>;
    type Receiver = filch::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        filch::channel()
    }

    fn push(sender: &Self::Sender, event: u64) {
        sender.push(event).expect("never closed");
    }

    fn pop(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.pop()
    }

    fn drain(receiver: &mut Self::Receiver, sink: impl FnMut(u64)) -> u64 {
        receiver.drain(sink) as u64
    }
}

struct Std;

impl Queue for Std {
    type Sender = mpsc::Sender<u64>;
    type Receiver = mpsc::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        mpsc::channel()
    }

    fn push(sender: &Self::Sender, event: u64) {
        sender.send(event).expect("the receiver lives");
    }

    fn pop(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.try_recv().ok()
    }
}

struct Channel;

impl Queue for Channel {
    type Sender = crossbeam_channel::Sender<u64>;
    type Receiver = crossbeam_channel::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        crossbeam_channel::unbounded()
    }

    fn push(sender: &Self::Sender, event: u64) {
        sender.send(event).expect("the receiver lives");
    }

    fn pop(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.try_recv().ok()
    }
}

struct Segments;

impl Queue for Segments {
    type Sender = Arc<SegQueue<u64>>;
    type Receiver = Arc<SegQueue<u64>>;

    fn new() -> (Self::Sender, Self::Receiver) {
        let queue = Arc::new(SegQueue::new());
        (Arc::clone(&queue), queue)
    }

    fn push(sender: &Self::Sender, event: u64) {
        SegQueue::push(sender, event);
    }

    fn pop(receiver: &mut Self::Receiver) -> Option<u64> {
        SegQueue::pop(receiver)
    }
}

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let single = effort.operations(1_000_000);
    let bursts = effort.operations(16_000);
    let one = effort.operations(1_000_000);
    let four = effort.operations(250_000);
    vec![
        Scenario::new("push + pop, one thread", "ns per event")
            .contender("filch-event-queue", one_thread::<Filch>(single))
            .contender("std mpsc", one_thread::<Std>(single))
            .contender("crossbeam-channel", one_thread::<Channel>(single))
            .contender("crossbeam SegQueue", one_thread::<Segments>(single)),
        Scenario::new("64 pushes, one drain, one thread", "ns per event")
            .contender("filch-event-queue", burst::<Filch>(bursts))
            .contender("std mpsc", burst::<Std>(bursts))
            .contender("crossbeam-channel", burst::<Channel>(bursts))
            .contender("crossbeam SegQueue", burst::<Segments>(bursts)),
        Scenario::new("1 producer → 1 consumer", "ns per event")
            .contender("filch-event-queue", fan_in::<Filch>(1, one))
            .contender("std mpsc", fan_in::<Std>(1, one))
            .contender("crossbeam-channel", fan_in::<Channel>(1, one))
            .contender("crossbeam SegQueue", fan_in::<Segments>(1, one)),
        Scenario::new("4 producers → 1 consumer", "ns per event")
            .contender("filch-event-queue", fan_in::<Filch>(4, four))
            .contender("std mpsc", fan_in::<Std>(4, four))
            .contender("crossbeam-channel", fan_in::<Channel>(4, four))
            .contender("crossbeam SegQueue", fan_in::<Segments>(4, four)),
    ]
}

fn one_thread<Q: Queue>(events: u64) -> impl FnMut() -> f64 {
    let (sender, mut receiver) = Q::new();
    move || {
        let elapsed = time(|| {
            for event in 0..events {
                Q::push(&sender, black_box(event));
                assert_eq!(black_box(Q::pop(&mut receiver)), Some(event));
            }
        });
        per_operation(elapsed, events)
    }
}

fn burst<Q: Queue>(bursts: u64) -> impl FnMut() -> f64 {
    let (sender, mut receiver) = Q::new();
    move || {
        let elapsed = time(|| {
            for _ in 0..bursts {
                for event in 0..BURST {
                    Q::push(&sender, black_box(event));
                }
                let taken = Q::drain(&mut receiver, |event| {
                    black_box(event);
                });
                assert_eq!(taken, BURST);
            }
        });
        per_operation(elapsed, bursts * BURST)
    }
}

/// A new queue each round: what an earlier round left allocated would favour whoever keeps it.
fn fan_in<Q: Queue>(producers: u64, events_each: u64) -> impl FnMut() -> f64 {
    move || {
        let (sender, mut receiver) = Q::new();
        let total = producers * events_each;
        let mut tasks: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        for _ in 0..producers {
            let sender = sender.clone();
            tasks.push(Box::new(move || {
                for event in 0..events_each {
                    Q::push(&sender, black_box(event));
                }
            }));
        }
        let mut sum = 0;
        let consumed = &mut sum;
        tasks.push(Box::new(move || {
            let mut left = total;
            let mut patience = Patience::default();
            while left > 0 {
                match Q::drain(&mut receiver, |event| *consumed += event) {
                    0 => patience.wait(),
                    taken => {
                        left -= taken;
                        patience.reset();
                    }
                }
            }
        }));
        let elapsed = time_together(tasks);
        assert_eq!(sum, producers * (events_each * (events_each - 1) / 2));
        per_operation(elapsed, total)
    }
}
