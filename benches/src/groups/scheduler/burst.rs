//! What is still resident when a burst of processes is over: memory that a program does not get
//! back. Each figure is that of a program of its own.

use super::Spawner;
use super::contenders::{Async, AsyncStatic, Filch, Rayon, Tokio};
use crate::harness::{Effort, Scenario};
use crate::memory::{of_a_program, resident};
use crate::total::sum_to;

const CONTENDERS: [&str; 5] = [
    "filch-scheduler",
    "tokio",
    "async-executor",
    "async-executor, static",
    "rayon scope",
];

pub(super) fn scenario(effort: Effort) -> Scenario {
    let count = effort.operations(1_000_000);
    let scenario = Scenario::new("resident after a burst of processes", "KiB");
    CONTENDERS
        .into_iter()
        .fold(scenario, |scenario, contender| {
            scenario.contender(contender, move || {
                of_a_program(&["--burst", contender, &count.to_string()])
            })
        })
}

/// What is resident when `count` processes of that contender have ended, in KiB, beside what was
/// before: for a program of its own.
///
/// # Panics
/// If the count is no number.
pub(crate) fn kept(contender: &str, count: &str) -> f64 {
    let count = count.parse().expect("a number");
    let bytes = match contender {
        "filch-scheduler" => kept_by::<Filch>(count),
        "tokio" => kept_by::<Tokio>(count),
        "async-executor" => kept_by::<Async>(count),
        "async-executor, static" => kept_by::<AsyncStatic>(count),
        _ => kept_by::<Rayon>(count),
    };
    bytes as f64 / 1024.0
}

fn kept_by<S: Spawner>(count: u64) -> i64 {
    let spawner = S::new();
    // The threads have all run.
    spawner.spawn_all(16);
    let before = resident();
    assert_eq!(spawner.spawn_all(count), sum_to(count));
    resident() - before
}
