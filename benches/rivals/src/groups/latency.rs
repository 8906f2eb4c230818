//! The time until something happens: a message to an idle process, a wake-up, the first step of a
//! task, a timer. In quiet, and beside what keeps the pool busy; with as many workers as elsewhere,
//! and with eight, which are more than the cores of a small machine. And the processor time that it
//! costs.
//!
//! A message is measured beside all that the group `fairness` is about, the others
//! beside two of those mixtures.
//!
//! A thread outside makes it happen every few milliseconds, and sleeps in between: it does not wait
//! for what it made happen, and a pool that is late is asked for no less.

pub(super) mod events;

use std::time::Duration;

use self::events::{Event, Message, Spawn, Timer, WakeUp};
use super::fairness::mixture::{BLOCKING, Mixture, keep_blocking};
use super::fairness::pools;
use crate::clock::cost;
use crate::harness::{Scenario, keeping};
use crate::pools::{Actors, Async, BlockingPool, Filch, Pool, TOTAL, Talking, Tokio};
use crate::work::{WORKERS, those_or, workers};

/// The time from one event to the next.
pub(super) const PERIOD: Duration = Duration::from_millis(2);

/// More than the cores of a small machine.
const MANY: usize = 8;

/// More than the cores of most machines.
const VERY_MANY: usize = 32;

pub(crate) fn scenarios() -> Vec<Scenario> {
    let counts = those_or(&[WORKERS, MANY]);
    let at_rest = latencies::<Message>(Message::QUIET, &Mixture::quiet(), VERY_MANY);
    let all = counts.into_iter().flat_map(all);
    let all = all.chain((workers() == WORKERS).then_some(at_rest));
    let count = 12_500;
    all.chain([
        carrying::<8>("messages of 8 bytes from outside", count),
        carrying::<256>("messages of 256 bytes from outside", count),
        carrying::<4096>("messages of 4 KiB from outside", count / 8),
    ])
    .collect()
}

/// All events, with `workers` workers.
fn all(workers: usize) -> Vec<Scenario> {
    let of_processes = Mixture::of_processes();
    let [_, yielders, .., both] = &of_processes;
    let two = [yielders.clone(), both.clone()];
    let mixtures = [of_processes.as_slice(), &Mixture::from_outside()].concat();
    let mut all = of::<Message>(&mixtures, workers);
    if workers == WORKERS {
        // A newcomer and what is flooded have one worker.
        let flooded = mixtures
            .iter()
            .filter(|mixture| mixture.name.contains("flooded"));
        all.extend(flooded.map(|mixture| beside::<Spawn>(mixture, 1)));
    }
    all.push(beside_blocking_calls(workers));
    all.extend(of::<WakeUp>(&two, workers));
    all.extend(of::<Spawn>(&two, workers));
    all.extend(of::<Timer>(&two, workers));
    all
}

/// The events of a turn.
const EVENTS: u64 = 40;

/// An event: by itself, beside mixtures, and what it takes of the processors by itself.
fn of<E: Event>(mixtures: &[Mixture], workers: usize) -> Vec<Scenario> {
    let beside = mixtures.iter().map(|mixture| beside::<E>(mixture, workers));
    let name = format!("{}, processor time", E::NAME);
    // Of the whole process, the thread that sends among it, for each event.
    let costs = pools!(
        Scenario::of_workers(&name, workers, "us of a processor"),
        contender,
        |P| move || {
            let round = events::round::<P, E>(&E::pool(workers), |_, _| {}, EVENTS, PERIOD);
            round.processor_time.as_secs_f64() * 1e6 / EVENTS as f64
        }
    );
    let quiet = latencies::<E>(E::QUIET, &Mixture::quiet(), workers);
    [quiet].into_iter().chain(beside).chain([costs]).collect()
}

fn beside<E: Event>(mixture: &Mixture, workers: usize) -> Scenario {
    latencies::<E>(&beside_of::<E>(mixture.name), mixture, workers)
}

fn latencies<E: Event>(name: &str, mixture: &Mixture, workers: usize) -> Scenario {
    pools!(Scenario::of_workers(name, workers, "us"), latencies, |P| {
        let mixture = mixture.clone();
        move || {
            let keep_busy = |pool: &P, over: &_| mixture.keep_busy(pool, over);
            events::round::<P, E>(&E::pool(workers), keep_busy, EVENTS, mixture.period).latencies
        }
    })
}

/// A message beside calls that block the workers: with those that have a way to make one.
fn beside_blocking_calls(workers: usize) -> Scenario {
    fn latencies<P: BlockingPool>(workers: usize, count: u64) -> impl FnMut() -> Vec<f64> {
        move || {
            events::round::<P, Message>(&Message::pool(workers), keep_blocking, count, PERIOD)
                .latencies
        }
    }

    Scenario::of_workers(&beside_of::<Message>(BLOCKING), workers, "us")
        .latencies(Talking::NAME, latencies::<Talking>(workers, EVENTS))
        .latencies("tokio, block_in_place", latencies::<Tokio>(workers, EVENTS))
}

fn beside_of<E: Event>(what: &str) -> String {
    format!("{} beside {what}", E::BRIEF)
}

/// Messages of that size, as values: what it costs to carry them.
fn carrying<const N: usize>(name: &str, count: u64) -> Scenario {
    Scenario::new(name, "ns per message")
        .contender("filch-scheduler", burst::<N, Filch<[u8; N]>>(count))
        .contender("tokio, mpsc", burst::<N, Tokio>(count))
        .contender("async-executor, async-channel", burst::<N, Async>(count))
}

/// A burst, from the first send until the last one is received.
fn burst<const N: usize, P: Actors<[u8; N]>>(count: u64) -> impl FnMut() -> f64 {
    let make = || {
        let pool = P::here();
        // All bytes are the same: the last one stands for what was carried.
        let receiver = pool.actor(|payload: [u8; N]| TOTAL.add(payload[N - 1].into()));
        (pool, receiver)
    };
    keeping(make, move |(_, receiver)| {
        TOTAL.expect(count);
        cost(count, || {
            (0..count).for_each(|_| assert!(P::send(receiver, [1; N])));
            TOTAL.wait();
        })
    })
}
