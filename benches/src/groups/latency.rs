//! How soon something happens: a message to an idle process, a wake-up, the first step of a task, a
//! timer. In quiet, and beside what keeps the pool busy; with as many workers as elsewhere, and
//! with eight, which are more than the cores of a small machine. And what it costs of the
//! processors.
//!
//! A message is measured beside all that the bars of the group `fairness` are about, the others
//! beside two of those mixtures.
//!
//! A thread outside makes it happen every few milliseconds, and sleeps in between: it does not wait
//! for what it made happen, and a pool that is late is asked for no less.

mod contenders;
mod events;
mod payload;

use std::time::Duration;

use self::contenders::Latent;
use self::events::{Event, Message, Spawn, Timer, WakeUp};
use super::fairness::contenders::{Async, BlockingPool, Filch, Pool, Tokio};
use super::fairness::mixture::{BLOCKING, Mixture, keep_blocking};
use super::fairness::titled;
use crate::harness::{Effort, Scenario};
use crate::rivals::WORKERS;

/// From one event to the next.
const PERIOD: Duration = Duration::from_millis(2);

/// More than the cores of a small machine.
const MANY: usize = 8;

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let all = [WORKERS, MANY].into_iter().flat_map(|workers| {
        let all = curve(workers, effort).into_iter();
        all.map(|(_, scenario)| scenario)
    });
    all.chain(payload::scenarios(effort)).collect()
}

/// All events, with `workers` workers.
pub(crate) fn curve(workers: usize, effort: Effort) -> Vec<(String, Scenario)> {
    let of_processes = Mixture::of_processes();
    let [_, yielders, .., both] = &of_processes;
    let two = [yielders.clone(), both.clone()];
    let mixtures = [of_processes.as_slice(), &Mixture::from_outside()].concat();
    let mut all = of::<Message>(&mixtures, workers, effort);
    all.push(beside_blocking_calls::<Message>(workers, effort));
    all.extend(of::<WakeUp>(&two, workers, effort));
    all.extend(of::<Spawn>(&two, workers, effort));
    all.extend(of::<Timer>(&two, workers, effort));
    all
}

/// An event: by itself, beside mixtures, and what it takes of the processors by itself.
fn of<E: Event>(mixtures: &[Mixture], workers: usize, effort: Effort) -> Vec<(String, Scenario)> {
    let quiet = (E::QUIET.to_owned(), Mixture::quiet(PERIOD));
    let beside = mixtures.iter();
    let beside = beside.map(|mixture| (beside_of::<E>(mixture.name), mixture.clone()));
    let count = effort.operations(150);
    let latencies = [quiet].into_iter().chain(beside).map(|(name, mixture)| {
        let scenario = titled(&name, workers, "us")
            .latencies(Filch::NAME, latencies::<Filch, E>(workers, &mixture, count))
            .latencies(Tokio::NAME, latencies::<Tokio, E>(workers, &mixture, count))
            .latencies(Async::NAME, latencies::<Async, E>(workers, &mixture, count));
        (name, scenario)
    });
    let name = format!("{}, processor time", E::NAME);
    let costs = titled(&name, workers, "us of a processor")
        .contender(Filch::NAME, cost::<Filch, E>(workers, count))
        .contender(Tokio::NAME, cost::<Tokio, E>(workers, count))
        .contender(Async::NAME, cost::<Async, E>(workers, count));
    latencies.chain([(name, costs)]).collect()
}

/// An event beside calls that block the workers: with those that have a way to make one.
fn beside_blocking_calls<E: Event>(workers: usize, effort: Effort) -> (String, Scenario) {
    fn latencies<P: Latent + BlockingPool, E: Event>(
        workers: usize,
        count: u64,
    ) -> impl FnMut() -> Vec<f64> {
        move || events::round::<P, E>(workers, keep_blocking, count, PERIOD).latencies
    }

    let count = effort.operations(150);
    let name = beside_of::<E>(BLOCKING);
    let scenario = titled(&name, workers, "us")
        .latencies(Filch::NAME, latencies::<Filch, E>(workers, count))
        .latencies(
            "tokio, block_in_place",
            latencies::<Tokio, E>(workers, count),
        );
    (name, scenario)
}

fn beside_of<E: Event>(what: &str) -> String {
    format!("{} beside {what}", E::BRIEF)
}

fn latencies<P: Latent, E: Event>(
    workers: usize,
    beside: &Mixture,
    count: u64,
) -> impl FnMut() -> Vec<f64> + use<P, E> {
    let beside = beside.clone();
    move || {
        let keep_busy = |pool: &P, over: &_| beside.keep_busy(pool, over);
        events::round::<P, E>(workers, keep_busy, count, beside.period).latencies
    }
}

/// Of the whole process, the thread that sends among it, for each event.
fn cost<P: Latent, E: Event>(workers: usize, count: u64) -> impl FnMut() -> f64 {
    move || {
        let round = events::round::<P, E>(workers, |_, _| {}, count, PERIOD);
        round.processor_time.as_secs_f64() * 1e6 / count as f64
    }
}
