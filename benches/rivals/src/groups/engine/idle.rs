//! The processor time of schedulers without tasks, in per cent of a core for each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use filch_engine::Worker;
use filch_parker::Parker;

use super::{Add, Counter, Ends, add};
use crate::harness::{Effort, Scenario};
use crate::processor_time::load;

/// Long enough for them to block.
const GRACE: Duration = Duration::from_millis(20);

pub(super) fn scenario(count: usize, effort: Effort) -> Scenario {
    let schedulers = count as u32;
    let millis = effort.operations(1_000);
    let name = format!("{schedulers} idle schedulers");
    Scenario::new(name, "% of a core each")
        .floor("threads that block for 1 ms, again and again", move || {
            blocking(schedulers, millis)
        })
        .contender("filch-engine", move || idle(schedulers, 0, millis))
        .contender("filch-engine, 8 workers each", move || {
            idle(schedulers, 8, millis)
        })
        .on_curve("idle schedulers", count)
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
    load_of(schedulers, millis)
}

/// The least that the loop of a scheduler can be: its wait.
fn blocking(threads: u32, millis: u64) -> f64 {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let parker = Parker::new();
                while !is_over.load(Ordering::Relaxed) {
                    parker.park_timeout(Duration::from_millis(1));
                }
            });
        }
        let load = load_of(threads, millis);
        is_over.store(true, Ordering::Relaxed);
        load
    })
}

fn load_of(threads: u32, millis: u64) -> f64 {
    thread::sleep(GRACE);
    load(|| thread::sleep(Duration::from_millis(millis))) / f64::from(threads)
}
