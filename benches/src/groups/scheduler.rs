//! Processes that come and go, and processes that send messages.
//!
//! For the rivals a process is a task, and its mailbox an unbounded channel. Every pool has
//! [`WORKERS`] threads and lives as long as its scenario; it sleeps while another one has its turn.

mod actix;
mod blocked;
pub(crate) mod burst;
mod calls;
mod contenders;
pub(crate) mod idle;
mod inside;
mod restarts;
mod skynet;
mod stateful;

use std::cell::LazyCell;
use std::hint::black_box;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix::Actix;
use blocked::{FilchWaiters, Waiters};
use calls::asking;
use contenders::{Async, AsyncStatic, Filch, FilchFutures, Rayon, Tokio};
use skynet::Grower;
use stateful::{Filch as Stateful, completed_outside};

use super::fairness::callers::Callable;
use super::fairness::contenders::{Async as CalledAsync, Filch as Called, Tokio as CalledTokio};
use crate::floor;
use crate::harness::{Effort, Scenario, per_operation, time};
use crate::rivals::{WORKERS, workers};
use crate::total::{Total, sum_to};

/// Processes that are spawned before the caller waits for them.
const WAVE: u64 = 100_000;

/// Processes of the largest wave.
const MILLION: u64 = 1_000_000;

/// Processes in the ring.
const RING: usize = 1000;

/// Senders of the fan-in.
const SENDERS: u64 = 1000;

/// Messages that each of them sends in one go.
const EACH: u64 = 1000;

/// Messages to a process that waits for something else.
const KEPT: u64 = 10_000;

/// How processes tell the thread outside that they are done. One for all pools: only one has its
/// turn.
static TOTAL: Total = Total::new();

/// Runs short tasks.
trait Spawner: 'static {
    fn new() -> Self;
    /// Spawns tasks that return 1, 2, … `count`, waits for all, and returns the sum of what they
    /// returned.
    fn spawn_all(&self, count: u64) -> u64;
}

/// Runs processes that live on and have addresses.
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
    // For contenders that wake a thread for every hop.
    let across = effort.operations(50_000);
    let bursts = effort.operations(2);
    let leaves = if effort.operations(8) == 8 {
        1_000_000
    } else {
        100_000
    };
    let calls = effort.operations(1_000_000);
    let waiters = effort.operations(80);
    let requests = effort.operations(20_000);
    let steps = effort.operations(200_000);
    let mut scenarios = vec![
        Scenario::new("spawn 100k, wait for all", "ns per process")
            .contender("filch-scheduler", spawn::<Filch>(waves, WAVE))
            .contender(
                "filch-scheduler, future",
                spawn::<FilchFutures>(waves, WAVE),
            )
            .contender("tokio", spawn::<Tokio>(waves, WAVE))
            .contender("async-executor", spawn::<Async>(waves, WAVE))
            .contender("async-executor, static", spawn::<AsyncStatic>(waves, WAVE))
            .contender("rayon scope", spawn::<Rayon>(waves, WAVE))
            .outside(&format!("spawn {waves} {WAVE}"), waves * WAVE),
        Scenario::new("a million processes, wait for all", "ns per process")
            .contender("filch-scheduler", spawn::<Filch>(1, MILLION))
            .contender("tokio", spawn::<Tokio>(1, MILLION))
            .contender("async-executor", spawn::<Async>(1, MILLION))
            .contender("async-executor, static", spawn::<AsyncStatic>(1, MILLION))
            .contender("rayon scope", spawn::<Rayon>(1, MILLION))
            .outside(&format!("spawn 1 {MILLION}"), MILLION),
        Scenario::new("ring of 1000", "ns per hop")
            .contender("filch-scheduler", ring::<Filch>(hops, RING))
            .contender("tokio mpsc", ring::<Tokio>(hops, RING))
            .contender("async-executor, async-channel", ring::<Async>(hops, RING))
            .contender("actix, one thread", ring::<Actix<1>>(hops, RING))
            .contender("actix", ring::<Actix<WORKERS>>(across, RING))
            .outside(&format!("ring {hops} {RING}"), hops),
        Scenario::new("ping-pong", "ns per hop")
            .contender("filch-scheduler", ring::<Filch>(hops, 2))
            .contender("tokio mpsc", ring::<Tokio>(hops, 2))
            .contender("async-executor, async-channel", ring::<Async>(hops, 2))
            .contender("actix, one thread", ring::<Actix<1>>(hops, 2))
            .contender("actix", ring::<Actix<WORKERS>>(across, 2))
            .outside(&format!("ring {hops} 2"), hops),
        Scenario::new("a process calls another", "ns per call")
            .contender("filch-scheduler", asking::<calls::Plain>(calls))
            .contender(
                "filch-scheduler, async fn",
                asking::<calls::Function>(calls),
            )
            .contender("tokio mpsc, oneshot", asking::<calls::TokioAsker>(calls)),
        Scenario::new("a process calls another, with a limit", "ns per call")
            .contender("filch-scheduler", asking::<calls::Limited>(calls))
            .contender(
                "tokio mpsc, oneshot, timeout",
                asking::<calls::TokioLimited>(calls),
            ),
        Scenario::new("skynet", "ns per leaf")
            .contender("filch-scheduler", skynet::<Filch>(leaves))
            .contender("tokio", skynet::<Tokio>(leaves))
            .contender("async-executor", skynet::<Async>(leaves))
            .contender("rayon scope", skynet::<Rayon>(leaves))
            .outside(&format!("skynet {leaves}"), leaves),
        Scenario::new("send to a blocked process", "ns per message")
            .contender("filch-scheduler", kept::<FilchWaiters>(waiters))
            .contender("tokio mpsc", kept::<Tokio>(waiters)),
        Scenario::new("fan-in 1000 x 1000", "ns per message")
            .contender("filch-scheduler", fan_in::<Filch>(bursts))
            .contender("tokio mpsc", fan_in::<Tokio>(bursts))
            .contender("async-executor, async-channel", fan_in::<Async>(bursts))
            .contender("actix, one thread", fan_in::<Actix<1>>(bursts))
            .contender("actix", fan_in::<Actix<WORKERS>>(bursts))
            .outside(
                &format!("fan-in {bursts} {SENDERS} {EACH}"),
                bursts * SENDERS * EACH,
            ),
        Scenario::new("completed outside, 64 bytes of state", "ns per step")
            .contender("filch-scheduler", completed_outside::<Stateful>(64, steps))
            .contender("tokio oneshot", completed_outside::<Tokio>(64, steps)),
        Scenario::new("completed outside, 48 KiB of state", "ns per step")
            .contender(
                "filch-scheduler",
                completed_outside::<Stateful>(48 << 10, steps / 5),
            )
            .contender(
                "tokio oneshot",
                completed_outside::<Tokio>(48 << 10, steps / 5),
            ),
        Scenario::new("request from outside, answer", "ns per request")
            .contender("filch-scheduler", request::<Filch>(requests))
            .contender("filch-scheduler, call", call::<Called>(requests))
            .contender("tokio mpsc", request::<Tokio>(requests))
            .contender("tokio mpsc, oneshot", call::<CalledTokio>(requests))
            .contender("async-executor, async-channel", request::<Async>(requests))
            .contender(
                "async-executor, two async-channels",
                call::<CalledAsync>(requests),
            )
            .contender("actix", request::<Actix<WORKERS>>(requests))
            .floor("a thread that parks", floor::parked_thread(requests)),
    ];
    scenarios.push(inside::scenario(effort));
    scenarios.push(restarts::scenario(effort));
    scenarios.extend(idle::scenarios());
    scenarios.push(burst::scenario(effort));
    scenarios
}

/// The scenarios that say something about more cores, with pools of as many workers as
/// [`rivals`](crate::rivals) have been told.
pub(crate) fn curve(workers: usize, effort: Effort) -> Vec<(&'static str, Scenario)> {
    let waves = effort.operations(8);
    let hops = effort.operations(2_000_000);
    let bursts = effort.operations(2);
    let leaves = 100_000;
    let of = |kind: &'static str, unit, fill: &dyn Fn(Scenario) -> Scenario| {
        let scenario = Scenario::new(format!("{kind}, workers: {workers}"), unit);
        (kind, fill(scenario))
    };
    vec![
        of("spawn 100k, wait for all", "ns per process", &|scenario| {
            scenario
                .contender("filch-scheduler", spawn::<Filch>(waves, WAVE))
                .contender("tokio", spawn::<Tokio>(waves, WAVE))
                .contender("async-executor", spawn::<Async>(waves, WAVE))
                .contender("async-executor, static", spawn::<AsyncStatic>(waves, WAVE))
                .contender("rayon scope", spawn::<Rayon>(waves, WAVE))
        }),
        of("ring of 1000", "ns per hop", &|scenario| {
            scenario
                .contender("filch-scheduler", ring::<Filch>(hops, RING))
                .contender("tokio mpsc", ring::<Tokio>(hops, RING))
                .contender("async-executor, async-channel", ring::<Async>(hops, RING))
        }),
        of("skynet of 100k leaves", "ns per leaf", &|scenario| {
            scenario
                .contender("filch-scheduler", skynet::<Filch>(leaves))
                .contender("tokio", skynet::<Tokio>(leaves))
                .contender("async-executor", skynet::<Async>(leaves))
                .contender("rayon scope", skynet::<Rayon>(leaves))
        }),
        of("fan-in 1000 x 1000", "ns per message", &|scenario| {
            scenario
                .contender("filch-scheduler", fan_in::<Filch>(bursts))
                .contender("tokio mpsc", fan_in::<Tokio>(bursts))
                .contender("async-executor, async-channel", fan_in::<Async>(bursts))
        }),
    ]
}

fn spawn<S: Spawner>(waves: u64, wave: u64) -> impl FnMut() -> f64 {
    let spawner = LazyCell::new(S::new);
    move || {
        let spawner = &*spawner;
        let elapsed = time(|| {
            for _ in 0..waves {
                assert_eq!(black_box(spawner.spawn_all(wave)), sum_to(wave));
            }
        });
        per_operation(elapsed, waves * wave)
    }
}

/// One message goes round. It says how many hops are left.
fn ring<A: Actors>(hops: u64, size: usize) -> impl FnMut() -> f64 {
    let ring = LazyCell::new(move || {
        let actors = A::new();
        let first = Arc::new(OnceLock::new());
        let last = actors.actor({
            let first = Arc::clone(&first);
            move |hops| {
                let first = first.get().expect("the ring was closed before");
                pass_on::<A>(first, hops);
            }
        });
        let entry = (1..size).fold(last, |next, _| {
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

fn skynet<G: Grower>(leaves: u64) -> impl FnMut() -> f64 {
    let grower = LazyCell::new(G::new);
    move || {
        let grower = &*grower;
        let elapsed = time(|| assert_eq!(grower.grow(leaves), sum_to(leaves - 1)));
        per_operation(elapsed, leaves)
    }
}

/// The time of the sends alone.
fn kept<W: Waiters>(waiters: u64) -> impl FnMut() -> f64 {
    let all = LazyCell::new(W::new);
    move || {
        let mut elapsed = Duration::ZERO;
        for _ in 0..waiters {
            let waiter = all.waiter(KEPT);
            elapsed += time(|| (0..KEPT).for_each(|message| W::send(&waiter, message)));
            all.release(waiter);
        }
        per_operation(elapsed, waiters * KEPT)
    }
}

/// Many send as fast as they can, without yielding; one receives.
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

/// The same, where sending and waiting are one act, or the answer has a channel of its own.
fn call<P: Callable>(requests: u64) -> impl FnMut() -> f64 {
    let process = LazyCell::new(|| {
        let pool = P::new(workers());
        let callee = pool.callee();
        (pool, callee)
    });
    move || {
        let (pool, callee) = &*process;
        let elapsed = time(|| {
            for number in 1..=requests {
                assert_eq!(pool.call(callee, number), number);
            }
        });
        per_operation(elapsed, requests)
    }
}

/// All workers sleep when the message comes, and this thread sleeps until the answer.
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
