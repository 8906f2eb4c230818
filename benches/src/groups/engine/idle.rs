//! The processor time of schedulers without tasks, in per cent of a core for each.

use std::thread;
use std::time::Duration;

use filch_engine::Worker;

use super::filch::{Ends, add};
use super::{Add, Counter};
use crate::bar::Bar;
use crate::harness::{Effort, Scenario};
use crate::processor_time::load;

/// Long enough for them to block.
const GRACE: Duration = Duration::from_millis(20);

pub(super) fn scenarios(effort: Effort) -> [Scenario; 2] {
    let millis = effort.operations(1_000);
    [1, 4].map(|schedulers| {
        let name = format!("{schedulers} idle schedulers");
        Scenario::new(name, "% of a core each")
            .contender("filch-engine", move || idle(schedulers, 0, millis))
            .contender("filch-engine, 8 workers each", move || {
                idle(schedulers, 8, millis)
            })
            .bar(Bar::absolute("filch-engine", 1.0))
            .bar(Bar::absolute("filch-engine, 8 workers each", 1.0))
    })
}

fn idle(schedulers: u32, workers: u32, millis: u64) -> f64 {
    let engine = Ends::new();
    for number in 0..schedulers {
        let scheduler = engine.start(&number.to_string());
        for number in 0..workers {
            let worker = Worker::new(number.to_string())
                .local(Counter::default)
                .on(|task: &Add, counter: &mut Counter| counter.add(task.0));
            add(&scheduler, worker);
        }
    }
    thread::sleep(GRACE);
    load(|| thread::sleep(Duration::from_millis(millis))) / f64::from(schedulers)
}
