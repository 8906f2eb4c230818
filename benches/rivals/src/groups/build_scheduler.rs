//! Build jobs: one scheduled, picked by a worker that has its dependency, and completed.
//!
//! With many jobs that wait besides, to see whether the cost of one depends on their number; and
//! what a job that waits takes up.

mod contenders;

use std::collections::HashMap;
use std::hint::black_box;

use self::contenders::{Farm, Filch, Locked};
use crate::alone;
use crate::clock::{cost, per_operation, time_together};
use crate::harness::{Scenario, merged};
use crate::memory::{resident, touched};
use crate::work::those_or;

/// Jobs of a turn.
const JOBS: u64 = 25_000;

/// Workers of the farm.
const WORKERS: u64 = 100;

pub(crate) fn scenarios() -> Vec<Scenario> {
    let floors = WAITING.map(|waiting| {
        beside(waiting).floor("an id noted, one forgotten", ids_alone(waiting, JOBS))
    });
    merged([
        on_all_threads::<Filch>(),
        on_all_threads::<Locked>(),
        on_one_thread::<Filch>(),
        on_one_thread::<Locked>(),
        floors.into(),
    ])
}

/// Jobs that wait besides.
const WAITING: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn on_all_threads<F: Farm + Sync>() -> Vec<Scenario> {
    let scenario = |threads| {
        let name = format!("schedule, pick, complete; {WORKERS} workers, {threads} threads");
        Scenario::new(name, "ns per job").contender(F::NAME, on_threads::<F>(threads as u64, JOBS))
    };
    those_or(&[1, 2]).into_iter().map(scenario).collect()
}

fn on_one_thread<F: Farm>() -> Vec<Scenario> {
    let waiting = 12_500.to_string();
    let among = |waiting| beside(waiting).contender(F::NAME, building::<F>(waiting, JOBS));
    let mut all = Vec::from(WAITING.map(among));
    let bytes = move || alone::figures(&["waiting", F::NAME, &waiting])[0];
    all.push(
        Scenario::new("a job that waits at one worker", "bytes per job").contender(F::NAME, bytes),
    );
    all
}

fn beside(waiting: u64) -> Scenario {
    let name = format!("the same beside {waiting} that wait, 1 thread");
    Scenario::new(name, "ns per job")
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
fn building<F: Farm>(waiting: u64, jobs: u64) -> impl FnMut() -> f64 {
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
        Filch::NAME => bytes_of::<Filch>(jobs),
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
