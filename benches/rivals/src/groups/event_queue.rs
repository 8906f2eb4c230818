//! Many producers, one consumer. No queue is bounded.

mod contenders;
mod floors;
mod latency;
mod throughput;

use std::time::Duration;

use self::contenders::{Concurrent, Crossbeam, Filch, Kanal, May, Segments, Std};
use self::floors::Floor;
use self::latency::{messages, ping_pong, pushes};
use self::throughput::{Batches, OneByOne, Sleeping, burst, fan_in, one_thread};
use crate::harness::{Effort, Scenario};
use crate::workers::those_or;

/// Takes the queues that can wait, or all of them. `$turn` is generic over the queue `$Queue`.
macro_rules! scenario {
    ($name:expr, $unit:literal, $add:ident, |$Queue:ident| $turn:expr;
        $($label:literal: $queue:ty),*) => {{
        let scenario = Scenario::new($name, $unit);
        $(
            let scenario = {
                type $Queue = $queue;
                scenario.$add($label, $turn)
            };
        )*
        scenario
    }};
    ($name:expr, waiting, $unit:literal, |$Queue:ident| $turn:expr) => {
        scenario!($name, $unit, contender, |$Queue| $turn;
            "filch-event-queue": Filch,
            "kanal": Kanal,
            "std mpsc": Std,
            "crossbeam-channel": Crossbeam)
    };
    ($name:expr, latencies, |$Queue:ident| $turn:expr) => {
        scenario!($name, all, "ns", latencies, |$Queue| $turn)
    };
    ($name:expr, |$Queue:ident| $turn:expr) => {
        scenario!($name, all, "ns per event", contender, |$Queue| $turn)
    };
    ($name:expr, all, $unit:literal, $add:ident, |$Queue:ident| $turn:expr) => {
        scenario!($name, $unit, $add, |$Queue| $turn;
            "filch-event-queue": Filch,
            "may_queue": May,
            "kanal": Kanal,
            "std mpsc": Std,
            "crossbeam-channel": Crossbeam,
            "crossbeam SegQueue": Segments,
            "concurrent-queue": Concurrent)
    };
}

/// 256 bytes.
type Large = [u64; 32];
/// 1 KiB.
type Huge = [u64; 128];

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let mut scenarios = alone(effort);
    for producers in those_or(&[1, 4, 8]) {
        scenarios.extend(together(effort, producers));
        if producers <= 4 {
            scenarios.extend(large(effort, producers as u64));
        }
    }
    scenarios.extend(latencies(effort));
    scenarios
}

/// Makes the scenarios on one thread.
fn alone(effort: Effort) -> Vec<Scenario> {
    let events = effort.operations(1_000_000);
    vec![
        scenario!("push + pop, one thread", |Q| one_thread::<u64, Q>(
            events, 1
        )),
        scenario!(
            "1000 pushes, 1000 pops, one thread",
            |Q| one_thread::<u64, Q>(events, 1000)
        ),
        scenario!("64 pushes, one drain, one thread", |Q| burst::<Q>(
            events, 64
        )),
        scenario!("256 bytes: push + pop, one thread", |Q| one_thread::<
            Large,
            Q,
        >(
            events / 2, 1
        )),
        scenario!("1 KiB: 16 pushes, 16 pops, one thread", |Q| one_thread::<
            Huge,
            Q,
        >(
            events / 5,
            16
        )),
    ]
}

/// Between threads.
fn together(effort: Effort, producers: usize) -> [Scenario; 3] {
    let events = effort.operations(1_000_000);
    let count = producers as u64;
    let name = |manner: &str| format!("{producers} → 1, {manner}");
    let curve = |manner: &str| format!("producers → 1, {manner}");
    [
        scenario!(name("one by one"), |Q| fan_in::<u64, Q, OneByOne>(
            count, events
        ))
        .on_curve(&curve("one by one"), producers),
        scenario!(name("recv"), waiting, "ns per event", |Q| {
            fan_in::<u64, Q, Sleeping>(count, events)
        })
        .on_curve(&curve("recv"), producers),
        scenario!(name("batches"), |Q| fan_in::<u64, Q, Batches>(
            count, events
        ))
        .floor(
            "a claim and a store",
            fan_in::<u64, Floor<true, false>, Batches>(count, events),
        )
        .floor(
            "the same, fresh memory",
            fan_in::<u64, Floor<false, false>, Batches>(count, events),
        )
        .floor(
            "fetch-and-add",
            fan_in::<u64, Floor<true, true>, Batches>(count, events),
        )
        .on_curve(&curve("batches"), producers),
    ]
}

/// Large events, between threads.
fn large(effort: Effort, producers: u64) -> [Scenario; 2] {
    let events = effort.operations(1_000_000);
    let name = |size: &str| format!("{producers} → 1, {size}");
    [
        scenario!(name("256 bytes"), |Q| fan_in::<Large, Q, OneByOne>(
            producers,
            events / 2
        )),
        scenario!(name("1 KiB"), |Q| fan_in::<Huge, Q, OneByOne>(
            producers,
            events / 10
        )),
    ]
}

fn latencies(effort: Effort) -> Vec<Scenario> {
    let often = Duration::from_nanos(200);
    let seldom = Duration::from_micros(1);
    let events = effort.operations(200_000);
    vec![
        scenario!("an event each 200 ns", latencies, |Q| messages::<Q>(
            often, events
        )),
        scenario!("an event each microsecond", latencies, |Q| messages::<Q>(
            seldom, events
        )),
        scenario!("push beside another producer", latencies, |Q| pushes::<Q>(
            events
        )),
        scenario!("ping-pong by recv", waiting, "ns per round trip", |Q| {
            ping_pong::<Q>(events / 10)
        }),
    ]
}
