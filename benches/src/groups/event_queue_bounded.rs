//! Many producers, one consumer, and a limit. Nobody blocks: a producer that finds the queue full
//! waits as every other contender's producer does, and tries again.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::mpsc;

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::ArrayQueue;
use filch_event_queue as filch;

use crate::harness::{Effort, Patience, Scenario, per_operation, time, time_together};

/// Events that a queue holds.
const CAPACITY: u32 = 256;
/// Events that one burst pushes before it is drained.
const BURST: u64 = 64;

/// What the scenarios need from a queue.
trait Queue {
    type Sender: Clone + Send;
    type Receiver: Send;

    fn new() -> (Self::Sender, Self::Receiver);
    /// Whether there was room.
    fn push(sender: &Self::Sender, event: u64) -> bool;
    fn pop(receiver: &mut Self::Receiver) -> Option<u64>;

    /// Takes what is there, until there is nothing; returns how many. By the contender's own batch
    /// method, where it has one.
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
    type Sender = filch::BoundedSender<u64>;
    type Receiver = filch::BoundedReceiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        filch::bounded_channel(const { NonZeroU32::new(CAPACITY).unwrap() })
    }

    fn push(sender: &Self::Sender, event: u64) -> bool {
        sender.push(event).is_ok()
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
    type Sender = mpsc::SyncSender<u64>;
    type Receiver = mpsc::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        mpsc::sync_channel(CAPACITY as usize)
    }

    fn push(sender: &Self::Sender, event: u64) -> bool {
        sender.try_send(event).is_ok()
    }

    fn pop(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.try_recv().ok()
    }
}

struct Crossbeam;

impl Queue for Crossbeam {
    type Sender = crossbeam_channel::Sender<u64>;
    type Receiver = crossbeam_channel::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        crossbeam_channel::bounded(CAPACITY as usize)
    }

    fn push(sender: &Self::Sender, event: u64) -> bool {
        sender.try_send(event).is_ok()
    }

    fn pop(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.try_recv().ok()
    }
}

struct Kanal;

impl Queue for Kanal {
    type Sender = kanal::Sender<u64>;
    type Receiver = (kanal::Receiver<u64>, Vec<u64>);

    fn new() -> (Self::Sender, Self::Receiver) {
        let (sender, receiver) = kanal::bounded(CAPACITY as usize);
        (sender, (receiver, Vec::new()))
    }

    fn push(sender: &Self::Sender, event: u64) -> bool {
        sender.try_send(event).expect("the receiver lives")
    }

    fn pop((receiver, _): &mut Self::Receiver) -> Option<u64> {
        receiver.try_recv().ok().flatten()
    }

    fn drain((receiver, batch): &mut Self::Receiver, sink: impl FnMut(u64)) -> u64 {
        // An error: no sender is left, and the queue is empty.
        let taken = receiver.drain_into(batch).unwrap_or(0);
        batch.drain(..).for_each(sink);
        taken as u64
    }
}

struct Concurrent;

impl Queue for Concurrent {
    type Sender = Arc<ConcurrentQueue<u64>>;
    type Receiver = Arc<ConcurrentQueue<u64>>;

    fn new() -> (Self::Sender, Self::Receiver) {
        let queue = Arc::new(ConcurrentQueue::bounded(CAPACITY as usize));
        (Arc::clone(&queue), queue)
    }

    fn push(sender: &Self::Sender, event: u64) -> bool {
        sender.push(event).is_ok()
    }

    fn pop(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.pop().ok()
    }
}

struct Array;

impl Queue for Array {
    type Sender = Arc<ArrayQueue<u64>>;
    type Receiver = Arc<ArrayQueue<u64>>;

    fn new() -> (Self::Sender, Self::Receiver) {
        let queue = Arc::new(ArrayQueue::new(CAPACITY as usize));
        (Arc::clone(&queue), queue)
    }

    fn push(sender: &Self::Sender, event: u64) -> bool {
        sender.push(event).is_ok()
    }

    fn pop(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.pop()
    }
}

macro_rules! scenario {
    ($name:literal, $round:ident($($argument:expr),*)) => {
        Scenario::new($name, "ns per event")
            .contender("filch-event-queue bounded", $round::<Filch>($($argument),*))
            .contender("kanal bounded", $round::<Kanal>($($argument),*))
            .contender("std sync_channel", $round::<Std>($($argument),*))
            .contender("crossbeam-channel bounded", $round::<Crossbeam>($($argument),*))
            .contender("crossbeam ArrayQueue", $round::<Array>($($argument),*))
            .contender("concurrent-queue bounded", $round::<Concurrent>($($argument),*))
    };
}

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let single = effort.operations(1_000_000);
    let bursts = effort.operations(16_000);
    let shared = effort.operations(1_000_000);
    vec![
        scenario!("bounded: push + pop, one thread", one_thread(single)),
        scenario!("bounded: 64 pushes, one drain, one thread", burst(bursts)),
        scenario!("bounded: 1 producer → 1 consumer", fan_in(1, shared)),
        scenario!("bounded: 4 producers → 1 consumer", fan_in(4, shared / 4)),
        scenario!(
            "bounded: refused by a full queue, one thread",
            refused(single)
        ),
    ]
}

fn one_thread<Q: Queue>(events: u64) -> impl FnMut() -> f64 {
    let (sender, mut receiver) = Q::new();
    move || {
        let elapsed = time(|| {
            for event in 0..events {
                assert!(Q::push(&sender, black_box(event)));
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
                    assert!(Q::push(&sender, black_box(event)));
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

/// What overload costs the sender.
fn refused<Q: Queue>(pushes: u64) -> impl FnMut() -> f64 {
    let (sender, receiver) = Q::new();
    while Q::push(&sender, 0) {}
    move || {
        // Some queues close when they have no receiver.
        let _receiver = &receiver;
        let elapsed = time(|| {
            for event in 0..pushes {
                assert!(!Q::push(&sender, black_box(event)));
            }
        });
        per_operation(elapsed, pushes)
    }
}

fn fan_in<Q: Queue>(producers: u64, events_each: u64) -> impl FnMut() -> f64 {
    move || {
        let (sender, mut receiver) = Q::new();
        let total = producers * events_each;
        let mut tasks: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        for _ in 0..producers {
            let sender = sender.clone();
            tasks.push(Box::new(move || {
                for event in 0..events_each {
                    let mut patience = Patience::default();
                    while !Q::push(&sender, black_box(event)) {
                        patience.wait();
                    }
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
                        patience.found(taken);
                    }
                }
            }
        }));
        let elapsed = time_together(tasks);
        assert_eq!(sum, producers * (events_each * (events_each - 1) / 2));
        per_operation(elapsed, total)
    }
}
