//! Build jobs: one scheduled, picked by a worker that has its dependency, and completed.
//!
//! With many jobs that wait besides, to see whether the cost of one depends on their number; and
//! what a job that waits takes up.

mod contenders;

use std::collections::HashMap;
use std::hint::black_box;

use self::contenders::{Actor, Farm, Filch, Locked, Planned};
use crate::alone;
use crate::clock::{cost, per_operation, time_together};
use crate::harness::{Effort, Scenario};
use crate::memory::{resident, touched};
use crate::workers::those_or;

/// Workers of the farm.
const WORKERS: u64 = 100;

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let jobs = effort.operations(200_000);
    let building = those_or(&[1, 2]).into_iter().map(|threads| {
        let name = format!("schedule, pick, complete; {WORKERS} workers, {threads} threads");
        // On more threads one of the rivals takes a thousand times as long as the others.
        let jobs = if threads > 2 { jobs / 5 } else { jobs };
        let threads_64 = threads as u64;
        Scenario::new(name, "ns per job")
            .contender(
                "filch-build-scheduler",
                on_threads::<Filch>(threads_64, jobs),
            )
            .contender("mutex, queues, set", on_threads::<Locked>(threads_64, jobs))
            .contender("channel to a thread", on_threads::<Actor>(threads_64, jobs))
            .on_curve("schedule, pick, complete; threads", threads)
    });
    let beside = [1_000, 10_000, 100_000, 1_000_000].map(|waiting| {
        let name = format!("the same beside {waiting} that wait, 1 thread");
        Scenario::new(name, "ns per job")
            .contender("filch-build-scheduler", beside::<Filch>(waiting, jobs))
            .contender("filch planner alone", beside::<Planned>(waiting, jobs))
            .contender("mutex, queues, set", beside::<Locked>(waiting, jobs))
            .floor("an id noted, one forgotten", ids_alone(waiting, jobs))
    });
    let waiting = effort.operations(100_000);
    let bytes = [
        "filch-build-scheduler",
        "filch planner alone",
        "mutex, queues, set",
    ];
    let bytes = bytes.into_iter().fold(
        Scenario::new("a job that waits at one worker", "bytes per job"),
        |scenario, contender| {
            scenario.contender(contender, move || {
                alone::figures(&["waiting", contender, &waiting.to_string()])[0]
            })
        },
    );
    building.chain(beside).chain([bytes]).collect()
}

/// Each thread builds for its own workers, each of which has one library. A new farm each round: it
/// remembers what it has built.
fn on_threads<F: Farm + Sync>(threads: u64, jobs: u64) -> impl FnMut() -> f64 {
    let workers = WORKERS.max(threads);
    move || {
        let farm = &F::new(workers);
        let each = jobs / threads;
        let tasks = (0..threads).map(|thread| {
            Box::new(move || {
                for job in 0..each {
                    let id = workers + thread * each + job;
                    let worker = thread + threads * (job % (workers / threads));
                    let pending = farm.schedule(id, worker);
                    let picked = farm.pick(worker);
                    farm.complete(worker, picked);
                    black_box(farm.wait(pending));
                }
            }) as Box<dyn FnOnce() + Send>
        });
        per_operation(time_together(tasks.collect()), each * threads)
    }
}

/// Jobs wait at the workers, in turn. One is added, and the worker's oldest is built.
fn beside<F: Farm>(waiting: u64, jobs: u64) -> impl FnMut() -> f64 {
    move || {
        let farm = F::new(WORKERS);
        // It does not grow while the clock runs.
        let mut pending = Vec::with_capacity((waiting + jobs) as usize);
        pending.extend((0..waiting).map(|job| Some(farm.schedule(WORKERS + job, job % WORKERS))));
        cost(jobs, || {
            for job in 0..jobs {
                let id = WORKERS + waiting + job;
                pending.push(Some(farm.schedule(id, job % WORKERS)));
                let picked = farm.pick(job % WORKERS);
                farm.complete(job % WORKERS, picked);
                let pending = pending[(picked - WORKERS) as usize].take();
                farm.wait(pending.expect("picked once"));
            }
        })
    }
}

/// Does the least that each form does for a job: its id comes into a table, and the id of another
/// one is found there.
fn ids_alone(waiting: u64, jobs: u64) -> impl FnMut() -> f64 {
    move || {
        let mut ids: HashMap<u64, u32> = (0..waiting).map(|id| (id, 0)).collect();
        cost(jobs, || {
            for job in 0..jobs {
                ids.insert(waiting + job, 0);
                assert!(ids.remove(&job).is_some());
            }
        })
    }
}

/// The bytes that each of so many jobs of that contender takes up, which wait: for a program of its
/// own.
pub(crate) fn bytes(contender: &str, jobs: u64) -> f64 {
    match contender {
        "filch-build-scheduler" => bytes_of::<Filch>(jobs),
        "filch planner alone" => bytes_of::<Planned>(jobs),
        _ => bytes_of::<Locked>(jobs),
    }
}

fn bytes_of<F: Farm>(jobs: u64) -> f64 {
    let farm = F::new(WORKERS);
    // The list is the caller's.
    let mut held = touched(jobs);
    let before = resident();
    held.extend((0..jobs).map(|job| farm.schedule(WORKERS + job, job % WORKERS)));
    (resident() - before) as f64 / jobs as f64
}
