//! How soon something happens: a message to an idle process, a wake-up, the first step of a task, a
//! timer. In quiet, and beside processes that are busy; with as many workers as elsewhere, and with
//! eight, which are more than the cores of a small machine. And what it costs of the processors.
//!
//! A thread outside makes it happen every few milliseconds, and sleeps in between: it does not wait
//! for what it made happen, and a pool that is late is asked for no less.

mod contenders;
mod events;
mod payload;

use std::time::Duration;

use self::events::{Event, Message, Spawn, Timer, WakeUp};
use super::fairness::contenders::{Async, Filch, Pool, Tokio};
use super::fairness::messages::Beside;
use super::fairness::{micros, titled};
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
pub(crate) fn curve(workers: usize, effort: Effort) -> Vec<(&'static str, Scenario)> {
    let names = [
        "message to an idle process",
        "message beside 64 yielders of 50 us",
        "message beside 8 yielders of 50 us and 8 pairs of 5 us",
        "message to an idle process, processor time",
    ];
    let mut all = of::<Message>(names, workers, effort);
    let names = [
        "wake-up of a future",
        "wake-up beside 64 yielders of 50 us",
        "wake-up beside 8 yielders of 50 us and 8 pairs of 5 us",
        "wake-up of a future, processor time",
    ];
    all.extend(of::<WakeUp>(names, workers, effort));
    let names = [
        "from spawn to run",
        "from spawn to run beside 64 yielders of 50 us",
        "from spawn to run beside 8 yielders of 50 us and 8 pairs of 5 us",
        "from spawn to run, processor time",
    ];
    all.extend(of::<Spawn>(names, workers, effort));
    let names = [
        "a timer of 1 ms, how late",
        "a timer of 1 ms beside 64 yielders of 50 us",
        "a timer of 1 ms beside 8 yielders of 50 us and 8 pairs of 5 us",
        "a timer of 1 ms, processor time",
    ];
    all.extend(of::<Timer>(names, workers, effort));
    all
}

/// An event: by itself, beside two mixtures, and what it takes of the processors by itself.
fn of<E: Event>(
    names: [&'static str; 4],
    workers: usize,
    effort: Effort,
) -> Vec<(&'static str, Scenario)> {
    let beside = [
        Beside::default(),
        Beside {
            yielders: Some((64, micros(50))),
            pairs: None,
        },
        Beside {
            yielders: Some((8, micros(50))),
            pairs: Some((8, micros(5))),
        },
    ];
    let count = effort.operations(150);
    let [.., processor_time] = names;
    let latencies = names.into_iter().zip(beside).map(|(name, beside)| {
        let scenario = titled(name, workers, "us");
        let scenario = scenario
            .latencies(Filch::NAME, latencies::<Filch, E>(workers, beside, count))
            .latencies(Tokio::NAME, latencies::<Tokio, E>(workers, beside, count))
            .latencies(Async::NAME, latencies::<Async, E>(workers, beside, count));
        (name, scenario)
    });
    let costs = titled(processor_time, workers, "us of a processor")
        .contender(Filch::NAME, cost::<Filch, E>(workers, count))
        .contender(Tokio::NAME, cost::<Tokio, E>(workers, count))
        .contender(Async::NAME, cost::<Async, E>(workers, count));
    latencies.chain([(processor_time, costs)]).collect()
}

fn latencies<P, E>(workers: usize, beside: Beside, count: u64) -> impl FnMut() -> Vec<f64>
where
    P: contenders::Latent,
    E: Event,
{
    move || events::round::<P, E>(workers, beside, count, PERIOD).latencies
}

/// Of the whole process, the thread that sends among it, for each event.
fn cost<P: contenders::Latent, E: Event>(workers: usize, count: u64) -> impl FnMut() -> f64 {
    move || {
        let round = events::round::<P, E>(workers, Beside::default(), count, PERIOD);
        round.processor_time.as_secs_f64() * 1e6 / count as f64
    }
}
