//! Processes that come and go, and processes that send messages.
//!
//! For the rivals a process is a task, and its mailbox an unbounded channel. Every pool has
//! two threads and lives as long as its scenario; it sleeps while another one has its turn.

mod calls;
mod commands;
mod crowds;
mod inboxes;
mod lifetimes;
mod names;
pub(crate) mod resident;
mod restarts;

use std::hint::black_box;
use std::sync::{Arc, OnceLock};

use rayon::ThreadPool;

use crate::clock::cost;
use crate::harness::{Scenario, keeping};
use crate::pools::{
    Actix, Actors, Async, AsyncStatic, Filch, FilchFutures, Grower, Ractor, Spawner, TOTAL, Tokio,
};
use crate::total::sum_to;
use crate::work::{WORKERS, those_or, workers};

/// Processes that are spawned before the caller waits for them.
const WAVE: u64 = 100_000;

/// Processes of the largest wave.
const MILLION: u64 = 1_000_000;

/// More workers than the cores of most machines.
const MANY: usize = 32;

/// Senders of the fan-in.
const SENDERS: u64 = 1000;

/// Messages that each of them sends in one go.
const EACH: u64 = 1000;

pub(crate) fn scenarios() -> Vec<Scenario> {
    let waves = 1;
    let bursts = 1;
    let waiters = 10;
    let requests = 2500;
    let steps = 25_000;
    let of = |kind, unit| Scenario::of_workers(kind, workers(), unit);
    let mut scenarios = vec![
        spawning("spawn 100k, wait for all", waves, WAVE),
        spawning("a million processes, wait for all", 1, MILLION),
        sending("ring of 1000", 1000, workers()),
        sending("ping-pong", 2, workers()),
        of("skynet", "ns per leaf")
            .contender("filch-scheduler", skynet::<Filch>(MILLION))
            .contender("tokio", skynet::<Tokio>(MILLION))
            .contender("async-executor", skynet::<Async>(MILLION))
            .contender("rayon scope", skynet::<ThreadPool>(MILLION))
            .outside(&format!("skynet {MILLION}"), MILLION),
        Scenario::new("send to a blocked process", "ns per message")
            .contender("filch-scheduler", commands::filch_keeps(waiters))
            .contender("tokio mpsc", commands::tokio_keeps(waiters)),
        of("fan-in 1000 x 1000", "ns per message")
            .contender("filch-scheduler", fan_in::<Filch>(bursts))
            .contender("tokio mpsc", fan_in::<Tokio>(bursts))
            .contender("async-executor, async-channel", fan_in::<Async>(bursts))
            .contender("async-executor, static", fan_in::<AsyncStatic>(bursts))
            .contender("actix, one thread", fan_in::<Actix>(bursts))
            .contender("ractor", fan_in::<Ractor>(bursts))
            .outside(
                &format!("fan-in {bursts} {SENDERS} {EACH}"),
                bursts * SENDERS * EACH,
            ),
        Scenario::new("request from outside, answer", "ns per request")
            .contender("filch-scheduler", request::<Filch>(requests))
            .contender("filch-scheduler, call", calls::from_outside(requests))
            .contender("tokio mpsc", request::<Tokio>(requests))
            .contender("tokio mpsc, oneshot", calls::tokio_from_outside(requests))
            .contender("async-executor, async-channel", request::<Async>(requests))
            .contender("actix, one thread", request::<Actix>(requests))
            .contender("ractor", request::<Ractor>(requests)),
    ];
    let state = [("64 bytes", 64, steps), ("48 KiB", 48 << 10, steps / 5)];
    scenarios.extend(state.map(|(size, bytes, steps)| {
        let name = format!("completed outside, {size} of state");
        Scenario::new(name, "ns per step")
            .contender("filch-scheduler", commands::filch_steps(bytes, steps))
            .contender("tokio oneshot", commands::tokio_steps(bytes, steps))
    }));
    let executions = 6250;
    scenarios.extend(those_or(&[1, 4, 8]).into_iter().map(|workers| {
        let name = format!("execute, a task completes the command, workers: {workers}");
        let order = format!("execute {workers} {executions}");
        Scenario::beside_the_original(&name, &order, executions)
            .contender(
                "filch-scheduler",
                commands::filch_executes(workers, executions),
            )
            .contender(
                "tokio oneshot",
                commands::tokio_executes(workers, executions),
            )
    }));
    if workers() == WORKERS {
        scenarios.push(sending("ring of 1000", 1000, MANY));
    }
    scenarios.extend(calls::scenarios(125_000));
    scenarios.extend(names::scenarios(125_000));
    scenarios.extend(crowds::scenarios());
    scenarios.extend(inboxes::scenarios());
    scenarios.extend(lifetimes::scenarios());
    scenarios.extend(resident::scenarios());
    scenarios.extend(restarts::scenarios());
    scenarios
}

fn spawning(kind: &str, waves: u64, wave: u64) -> Scenario {
    Scenario::of_workers(kind, workers(), "ns per process")
        .contender("filch-scheduler", spawn::<Filch>(waves, wave))
        .contender(
            "filch-scheduler, future",
            spawn::<FilchFutures>(waves, wave),
        )
        .contender("tokio", spawn::<Tokio>(waves, wave))
        .contender("async-executor", spawn::<Async>(waves, wave))
        .contender("async-executor, static", spawn::<AsyncStatic>(waves, wave))
        .contender("rayon scope", spawn::<ThreadPool>(waves, wave))
        .outside(&format!("spawn {waves} {wave}"), waves * wave)
}

fn spawn<S: Spawner>(waves: u64, wave: u64) -> impl FnMut() -> f64 {
    keeping(S::here, move |spawner| {
        cost(waves * wave, || {
            for _ in 0..waves {
                assert_eq!(black_box(spawner.spawn_all(wave)), sum_to(wave));
            }
        })
    })
}

/// A ring of so many.
fn sending(kind: &str, size: usize, of_workers: usize) -> Scenario {
    let hops = 250_000;
    let of = [size, of_workers];
    let scenario = Scenario::of_workers(kind, of_workers, "ns per hop")
        .contender("filch-scheduler", ring::<Filch>(hops, of))
        .contender("tokio mpsc", ring::<Tokio>(hops, of))
        .contender("async-executor, async-channel", ring::<Async>(hops, of))
        .contender("async-executor, static", ring::<AsyncStatic>(hops, of));
    // The others have as many workers as most scenarios.
    match of_workers == workers() {
        true => scenario
            .contender("actix, one thread", ring::<Actix>(hops, of))
            .contender("ractor", ring::<Ractor>(hops, of))
            .outside(&format!("ring {hops} {size}"), hops),
        false => scenario,
    }
}

/// One message goes round. It says how many hops are left.
fn ring<A: Actors<u64>>(hops: u64, [size, workers]: [usize; 2]) -> impl FnMut() -> f64 {
    let ring = move || {
        let actors = A::with_workers(workers);
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
    };
    keeping(ring, move |(_, entry)| {
        TOTAL.expect(1);
        cost(hops, || {
            assert!(A::send(entry, hops));
            TOTAL.wait();
        })
    })
}

fn pass_on<A: Actors<u64>>(next: &A::Address, hops: u64) {
    match hops.checked_sub(1) {
        None => TOTAL.add(1),
        Some(left) => assert!(A::send(next, left)),
    }
}

fn skynet<G: Grower>(leaves: u64) -> impl FnMut() -> f64 {
    keeping(G::here, move |grower| {
        cost(leaves, || {
            assert_eq!(grower.grow(MILLION), sum_to(leaves - 1));
        })
    })
}

/// Many send as fast as they can, without yielding; one receives.
fn fan_in<A: Actors<u64>>(bursts: u64) -> impl FnMut() -> f64 {
    let processes = || {
        let actors = A::here();
        let sink = actors.actor(|number| TOTAL.add(number));
        let sender = |_| {
            let sink = sink.clone();
            actors.actor(move |_go| {
                for number in 1..=EACH {
                    assert!(A::send(&sink, number));
                }
            })
        };
        let senders: Vec<_> = (0..SENDERS).map(sender).collect();
        (actors, senders)
    };
    keeping(processes, move |(_, senders)| {
        cost(bursts * SENDERS * EACH, || {
            for _ in 0..bursts {
                TOTAL.expect(SENDERS * sum_to(EACH));
                for sender in senders {
                    assert!(A::send(sender, 0));
                }
                TOTAL.wait();
            }
        })
    })
}

/// All workers sleep when the message comes, and this thread sleeps until the answer.
fn request<A: Actors<u64>>(requests: u64) -> impl FnMut() -> f64 {
    let process = || {
        let actors = A::here();
        let process = actors.actor(|number| TOTAL.add(number));
        (actors, process)
    };
    keeping(process, move |(_, process)| {
        cost(requests, || {
            for number in 1..=requests {
                TOTAL.expect(number);
                assert!(A::send(process, number));
                TOTAL.wait();
            }
        })
    })
}
