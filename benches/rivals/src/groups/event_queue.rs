//! Many producers, one consumer. No queue is bounded.

mod contenders;
mod floors;
mod latency;
mod throughput;

use std::time::Duration;

use self::contenders::{
    Async, Blocking, Concurrent, Crossbeam, Crossfire, Filch, Flume, Kanal, May, Queue, Segments,
    Std,
};
use self::floors::Floor;
use self::latency::{Next, messages, ping_pong, polled, pushes, received, receiver_load};
use self::throughput::{batches, burst, fan_in, one_by_one, one_thread, sleeping};
use crate::harness::{Scenario, merged};
use crate::work::those_or;

/// 256 bytes.
type Large = [u64; 32];
/// 1 KiB.
type Huge = [u64; 128];

pub(crate) fn scenarios() -> Vec<Scenario> {
    merged([
        all::<Filch>("filch-event-queue"),
        all::<May>("may_queue"),
        all::<Kanal>("kanal"),
        all::<Std>("std mpsc"),
        all::<Crossbeam>("crossbeam-channel"),
        all::<Flume>("flume"),
        all::<Crossfire>("crossfire"),
        all::<Segments>("crossbeam SegQueue"),
        all::<Concurrent>("concurrent-queue"),
        waiting::<Filch>("filch-event-queue"),
        // The choice of a thread that must not sleep.
        at_a_pace::<Filch>("filch-event-queue, looking", polled::<Filch>).collect(),
        waiting::<Kanal>("kanal"),
        waiting::<Std>("std mpsc"),
        waiting::<Crossbeam>("crossbeam-channel"),
        waiting::<Flume>("flume"),
        waiting::<Crossfire>("crossfire"),
        waiting::<Async>("async-channel"),
        floors(),
    ])
}

/// Events of most rounds.
const EVENTS: u64 = 125_000;

fn of(name: impl Into<String>) -> Scenario {
    Scenario::new(name, "ns per event")
}

fn together(producers: usize, manner: &str) -> Scenario {
    of(format!("{producers} → 1, {manner}"))
}

/// The scenarios of every queue.
fn all<Q>(queue: &'static str) -> Vec<Scenario>
where
    Q: Queue<u64> + Queue<Large> + Queue<Huge>,
{
    let mut all = vec![
        of("push + pop, one thread").contender(queue, one_thread::<u64, Q>(EVENTS, 1)),
        of("1000 pushes, 1000 pops, one thread")
            .contender(queue, one_thread::<u64, Q>(EVENTS, 1000)),
        of("64 pushes, one drain, one thread").contender(queue, burst::<Q>(EVENTS, 64)),
        of("256 bytes: push + pop, one thread")
            .contender(queue, one_thread::<Large, Q>(EVENTS / 2, 1)),
        of("1 KiB: 16 pushes, 16 pops, one thread")
            .contender(queue, one_thread::<Huge, Q>(EVENTS / 5, 16)),
    ];
    for producers in those_or(&[1, 4, 8]) {
        let count = producers as u64;
        all.extend([
            together(producers, "one by one")
                .contender(queue, fan_in::<u64, Q>(count, EVENTS, one_by_one::<u64, Q>)),
            together(producers, "batches")
                .contender(queue, fan_in::<u64, Q>(count, EVENTS, batches::<u64, Q>)),
        ]);
        if producers <= 4 {
            all.extend([
                of(format!("{producers} → 1, 256 bytes")).contender(
                    queue,
                    fan_in::<Large, Q>(count, EVENTS / 2, one_by_one::<Large, Q>),
                ),
                of(format!("{producers} → 1, 1 KiB")).contender(
                    queue,
                    fan_in::<Huge, Q>(count, EVENTS / 10, one_by_one::<Huge, Q>),
                ),
            ]);
        }
    }
    let events = 25_000;
    let (often, seldom) = (Duration::from_nanos(200), Duration::from_micros(1));
    all.extend([
        Scenario::new("an event each 200 ns", "ns")
            .latencies(queue, messages::<Q>(often, events, polled::<Q>)),
        Scenario::new("an event each microsecond", "ns")
            .latencies(queue, messages::<Q>(seldom, events, polled::<Q>)),
        Scenario::new("a push beside another producer", "ns").latencies(queue, pushes::<Q>(events)),
    ]);
    all
}

/// Those of queues whose receiver can wait.
fn waiting<Q: Blocking<u64>>(queue: &'static str) -> Vec<Scenario> {
    let trips = 2500;
    let recv = |producers| {
        let turn = fan_in::<u64, Q>(producers as u64, EVENTS, sleeping::<u64, Q>);
        together(producers, "recv").contender(queue, turn)
    };
    let mut all: Vec<_> = those_or(&[1, 4, 8]).into_iter().map(recv).collect();
    all.extend(at_a_pace::<Q>(queue, received::<Q>));
    let ping_pong = ping_pong::<Q>(trips);
    all.push(Scenario::new("ping-pong by recv", "ns per round trip").contender(queue, ping_pong));
    all
}

/// A receiver that waits in this way for an event each so many microseconds.
fn at_a_pace<Q: Queue<u64>>(queue: &'static str, next: Next<Q>) -> impl Iterator<Item = Scenario> {
    [10, 100].into_iter().flat_map(move |micros| {
        let period = Duration::from_micros(micros);
        let events = 12_500 / micros;
        let name = format!("recv, an event each {micros} us");
        let ages = messages::<Q>(period, events, next);
        let load = receiver_load::<Q>(period, events, next);
        let scenario = Scenario::new(format!("{name}: processor time"), "% of a core");
        [
            Scenario::new(name, "ns").latencies(queue, ages),
            scenario.contender(queue, load),
        ]
    })
}

fn floors() -> Vec<Scenario> {
    let floor = |producers| {
        let floor = fan_in::<u64, Floor>(producers as u64, EVENTS, batches::<u64, Floor>);
        together(producers, "batches").floor("a claim and a store", floor)
    };
    those_or(&[1, 4, 8]).into_iter().map(floor).collect()
}
