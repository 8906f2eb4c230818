//! Many producers, one consumer. No queue is bounded, and the consumer always takes everything that
//! it finds.

mod contenders;
mod floors;

use std::hint::black_box;

use self::contenders::{Concurrent, Crossbeam, Filch, Kanal, May, Queue, Segments, Std};
use self::floors::{Add, Claim, Floor, Fresh};
use crate::harness::{Backoff, Effort, Scenario, per_operation, time, time_together};

/// Events that one burst pushes before it is drained.
const BURST: u64 = 64;

macro_rules! scenario {
    ($name:literal, $round:ident($($argument:expr),*)) => {
        Scenario::new($name, "ns per event")
            .contender("filch-event-queue", $round::<Filch>($($argument),*))
            .contender("may_queue", $round::<May>($($argument),*))
            .contender("kanal", $round::<Kanal>($($argument),*))
            .contender("std mpsc", $round::<Std>($($argument),*))
            .contender("crossbeam-channel", $round::<Crossbeam>($($argument),*))
            .contender("crossbeam SegQueue", $round::<Segments>($($argument),*))
            .contender("concurrent-queue", $round::<Concurrent>($($argument),*))
    };
}

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let single = effort.operations(1_000_000);
    let bursts = effort.operations(16_000);
    let shared = effort.operations(1_000_000);
    vec![
        scenario!("push + pop, one thread", one_thread(single)),
        scenario!("64 pushes, one drain, one thread", burst(bursts)),
        scenario!("1 producer → 1 consumer", fan_in(1, shared))
            .floor("a claim and a store", fan_in::<Floor<Claim>>(1, shared))
            .floor("the same, fresh memory", fan_in::<Floor<Fresh>>(1, shared)),
        scenario!("4 producers → 1 consumer", fan_in(4, shared / 4))
            .floor("a claim and a store", fan_in::<Floor<Claim>>(4, shared / 4))
            .floor(
                "the same, fresh memory",
                fan_in::<Floor<Fresh>>(4, shared / 4),
            )
            .floor("fetch-and-add", fan_in::<Floor<Add>>(4, shared / 4)),
        scenario!("8 producers → 1 consumer", fan_in(8, shared / 8)),
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

/// A new queue each round: memory that an earlier round left would favour a queue that keeps it.
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
            let mut backoff = Backoff::default();
            while left > 0 {
                match Q::drain(&mut receiver, |event| *consumed += event) {
                    0 => backoff.wait(),
                    taken => {
                        left -= taken;
                        backoff.found(taken);
                    }
                }
            }
        }));
        let elapsed = time_together(tasks);
        assert_eq!(sum, producers * (events_each * (events_each - 1) / 2));
        per_operation(elapsed, total)
    }
}
