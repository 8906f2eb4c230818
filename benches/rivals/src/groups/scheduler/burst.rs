//! What is still resident when a burst of processes is over: memory that a program does not get
//! back. Each figure is that of a program of its own.

use rayon::ThreadPool;

use crate::alone;
use crate::harness::{Effort, Scenario};
use crate::memory::resident;
use crate::pools::{Async, AsyncStatic, Filch, Spawner, Tokio};
use crate::total::sum_to;
use crate::workers::workers;

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
                alone::figures(&["burst", contender, &count.to_string()])[0]
            })
        })
}

/// What is resident when `count` processes of that contender have ended, in KiB, beside what was
/// before: for a program of its own.
pub(crate) fn kept(contender: &str, count: u64) -> f64 {
    let bytes = match contender {
        "filch-scheduler" => kept_by::<Filch>(count),
        "tokio" => kept_by::<Tokio>(count),
        "async-executor" => kept_by::<Async>(count),
        "async-executor, static" => kept_by::<AsyncStatic>(count),
        _ => kept_by::<ThreadPool>(count),
    };
    bytes as f64 / 1024.0
}

fn kept_by<S: Spawner>(count: u64) -> i64 {
    let spawner = S::new(workers());
    // The threads have all run.
    spawner.spawn_all(16);
    let before = resident();
    assert_eq!(spawner.spawn_all(count), sum_to(count));
    resident() - before
}
