//! The scheduler, by the rows of the requirements, and with bad input.
//!
//! All on a clock that the tests move: nothing sleeps. Where one thread does everything, each call
//! has done its work when it returns.

mod ends;
mod near_first;
mod original;
mod places;
mod rows;
mod withdrawn;

use std::time::Duration;

use filch_build_scheduler::{Config, Job, PickError, Scheduler, WorkerId};
use filch_timers::{FakeClock, Timers};

const CACHE_TIMEOUT: Duration = Duration::from_secs(1);
const DEPS_TIMEOUT: Duration = Duration::from_secs(60);

type Farm = Scheduler<&'static str, u32, i32>;

/// Makes a scheduler with its clock.
fn farm() -> (Farm, FakeClock) {
    start(Config::new(CACHE_TIMEOUT, DEPS_TIMEOUT))
}

fn start(config: Config) -> (Farm, FakeClock) {
    let clock = FakeClock::new();
    let timers = Timers::with_clock(clock.clone()).unwrap();
    (Scheduler::new(config, &timers), clock)
}

/// Makes a scheduler with its clock and some workers.
fn farm_of<const WORKERS: usize>() -> (Farm, FakeClock, [WorkerId; WORKERS]) {
    let (farm, clock) = farm();
    let workers = [(); WORKERS].map(|()| worker(&farm));
    (farm, clock, workers)
}

fn worker(farm: &Farm) -> WorkerId {
    farm.register_worker().wait().unwrap()
}

fn job(id: &'static str) -> Job<&'static str, u32> {
    Job::new(id, 0)
}

fn job_on(id: &'static str, dependencies: &[&'static str]) -> Job<&'static str, u32> {
    Job::with_dependencies(id, dependencies.iter().copied(), 0)
}

/// Returns the job that the worker gets now, if any.
fn pick(farm: &Farm, worker: WorkerId) -> Option<&'static str> {
    let picking = farm.pick_job(worker);
    picking.canceller().cancel();
    match picking.wait() {
        Ok(job) => Some(job.id),
        Err(PickError::Cancelled) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Puts the artifact into the worker's cache.
fn cache(farm: &Farm, worker: WorkerId, id: &'static str) {
    assert_eq!(farm.on_job_complete(worker, id, 0).wait(), Ok(false));
}
