//! Processes that come and go, and processes that send messages.
//!
//! To the rivals a process is a task, and its mailbox an unbounded channel. Every pool has as many threads
//! ([`WORKERS`](crate::rivals::WORKERS)) and lives as long as its scenario; while another one has its turn it sleeps.

mod contenders;

use std::cell::LazyCell;
use std::hint::black_box;
use std::sync::{Arc, OnceLock};

use contenders::{Async, Filch, Rayon, Tokio};

use crate::harness::{Effort, Scenario, per_operation, time};
use crate::total::{Total, sum_to};

/// Processes that are spawned before anybody waits for them.
const WAVE: u64 = 100_000;

/// Processes in the ring.
const RING: usize = 1000;

/// Senders of the fan-in.
const SENDERS: u64 = 100;

/// Messages that each of them sends in one go.
const EACH: u64 = 1000;

/// How processes tell the thread outside that they are done. One for all pools: only one has its turn.
static TOTAL: Total = Total::new();

/// What runs short tasks.
trait Spawner: 'static {
    fn new() -> Self;
    /// Spawns tasks that return 1, 2, … `count`, waits for all, and returns the sum of what they returned.
    fn spawn_all(&self, count: u64) -> u64;
}

/// What runs processes that live on and have addresses.
trait Actors: 'static {
    type Address: Clone + Send + Sync + 'static;

    fn new() -> Self;
    /// A process that calls `behaviour` with each message.
    fn actor(&self, behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address;
    fn send(to: &Self::Address, message: u64);
}

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let waves = effort.operations(8);
    let hops = effort.operations(2_000_000);
    let bursts = effort.operations(16);
    let requests = effort.operations(20_000);
    vec![
        Scenario::new("spawn 100k, wait for all", "ns per process")
            .contender("filch-scheduler", spawn::<Filch>(waves))
            .contender("tokio", spawn::<Tokio>(waves))
            .contender("async-executor", spawn::<Async>(waves))
            .contender("rayon scope", spawn::<Rayon>(waves))
            .go(format!("spawn {waves} {WAVE}"), waves * WAVE),
        Scenario::new("ring of 1000", "ns per hop")
            .contender("filch-scheduler", ring::<Filch>(hops))
            .contender("tokio mpsc", ring::<Tokio>(hops))
            .contender("async-executor, async-channel", ring::<Async>(hops))
            .go(format!("ring {hops} {RING}"), hops),
        Scenario::new("fan-in 100 x 1000", "ns per message")
            .contender("filch-scheduler", fan_in::<Filch>(bursts))
            .contender("tokio mpsc", fan_in::<Tokio>(bursts))
            .contender("async-executor, async-channel", fan_in::<Async>(bursts))
            .go(
                format!("fan-in {bursts} {SENDERS} {EACH}"),
                bursts * SENDERS * EACH,
            ),
        Scenario::new("request from outside, answer", "ns per request")
            .contender("filch-scheduler", request::<Filch>(requests))
            .contender("tokio mpsc", request::<Tokio>(requests))
            .contender("async-executor, async-channel", request::<Async>(requests)),
    ]
}

fn spawn<S: Spawner>(waves: u64) -> impl FnMut() -> f64 {
    let spawner = LazyCell::new(S::new);
    move || {
        let spawner = &*spawner;
        let elapsed = time(|| {
            for _ in 0..waves {
                assert_eq!(black_box(spawner.spawn_all(WAVE)), sum_to(WAVE));
            }
        });
        per_operation(elapsed, waves * WAVE)
    }
}

/// One message goes round. It says how many hops are left.
fn ring<A: Actors>(hops: u64) -> impl FnMut() -> f64 {
    let ring = LazyCell::new(|| {
        let actors = A::new();
        let first = Arc::new(OnceLock::new());
        let last = actors.actor({
            let first = Arc::clone(&first);
            move |hops| {
                let first = first.get().expect("the ring was closed before");
                pass_on::<A>(first, hops);
            }
        });
        let entry = (1..RING).fold(last, |next, _| {
            actors.actor(move |hops| pass_on::<A>(&next, hops))
        });
        assert!(first.set(entry.clone()).is_ok());
        (actors, entry)
    });
    move || {
        let (_, entry) = &*ring;
        TOTAL.expect(1);
        let elapsed = time(|| {
            A::send(entry, hops);
            TOTAL.wait();
        });
        per_operation(elapsed, hops)
    }
}

fn pass_on<A: Actors>(next: &A::Address, hops: u64) {
    match hops.checked_sub(1) {
        None => TOTAL.add(1),
        Some(left) => A::send(next, left),
    }
}

/// Many send as fast as they can, without giving way; one receives.
fn fan_in<A: Actors>(bursts: u64) -> impl FnMut() -> f64 {
    let processes = LazyCell::new(|| {
        let actors = A::new();
        let sink = actors.actor(|number| TOTAL.add(number));
        let sender = |_| {
            let sink = sink.clone();
            actors.actor(move |_go| {
                for number in 1..=EACH {
                    A::send(&sink, number);
                }
            })
        };
        let senders: Vec<_> = (0..SENDERS).map(sender).collect();
        (actors, senders)
    });
    move || {
        let (_, senders) = &*processes;
        let elapsed = time(|| {
            for _ in 0..bursts {
                TOTAL.expect(SENDERS * sum_to(EACH));
                for sender in senders {
                    A::send(sender, 0);
                }
                TOTAL.wait();
            }
        });
        per_operation(elapsed, bursts * SENDERS * EACH)
    }
}

/// Nothing else is going on: all workers sleep when the message comes, and this thread sleeps until the answer.
fn request<A: Actors>(requests: u64) -> impl FnMut() -> f64 {
    let process = LazyCell::new(|| {
        let actors = A::new();
        let process = actors.actor(|number| TOTAL.add(number));
        (actors, process)
    });
    move || {
        let (_, process) = &*process;
        let elapsed = time(|| {
            for number in 1..=requests {
                TOTAL.expect(number);
                A::send(process, number);
                TOTAL.wait();
            }
        });
        per_operation(elapsed, requests)
    }
}
