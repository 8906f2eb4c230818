//! The build scheduler: a job goes to a worker that has its inputs, and after a while to any.

use std::collections::HashSet;
use std::time::Duration;

use filch::build_scheduler::{Config, Job, Pending, Scheduler, WorkerId};
use filch::timers::{FakeClock, Timers};

use crate::{Programs, SHORTS, none};

pub(crate) const PROGRAMS: Programs = [tree, none, long, none, failure];

/// The numbers of which a job makes the sum: the first, and how many.
type Id = (u64, u64);
type Farm = Scheduler<Id, (), u64>;

/// The time that a job waits for a worker that has an input.
const MINUTE: Duration = Duration::from_secs(60);

/// Makes a farm; this thread is its workers, and moves its clock.
fn farm<const WORKERS: usize>() -> (Farm, FakeClock, [WorkerId; WORKERS]) {
    let clock = FakeClock::new();
    let timers = Timers::with_clock(clock.clone()).unwrap();
    let farm = Farm::new(Config::new(Duration::ZERO, MINUTE), &timers);
    let workers = [(); WORKERS].map(|()| farm.register_worker().wait().unwrap());
    (farm, clock, workers)
}

/// Returns the job that the worker gets now, if any.
fn pick(farm: &Farm, worker: WorkerId) -> Option<Id> {
    let picking = farm.pick_job(worker);
    picking.canceller().cancel();
    picking.wait().ok().map(|job| job.id)
}

// ANCHOR: tree
fn halves((first, count): Id) -> Vec<Id> {
    let half = count / 2;
    let halves = [(first, half), (first + half, half)];
    halves.into_iter().filter(|_| half > 0).collect()
}

fn schedule(farm: &Farm, id: Id) -> Pending<u64> {
    farm.schedule_job(Job::with_dependencies(id, halves(id), ()))
}
// ANCHOR_END: tree

fn tree() -> String {
    let (farm, clock, workers) = farm::<4>();
    let (mut cached, mut fetched) = (HashSet::new(), 0);
    for count in [1, 2, 4, 8, 16] {
        let ids = (0..16).step_by(count as usize).map(|first| (first, count));
        let sums: Vec<_> = ids.map(|id| schedule(&farm, id)).collect();
        if count == 1 {
            clock.advance(MINUTE); // nobody has an input of these
        }
        for worker in workers.into_iter().cycle().take(64) {
            if let Some(id) = pick(&farm, worker) {
                let is_far = |half: &Id| !cached.contains(&(worker, *half));
                fetched += halves(id).into_iter().filter(is_far).count();
                cached.insert((worker, id));
                let sum = (id.0..id.0 + count).sum();
                farm.on_job_complete(worker, id, sum).wait().unwrap();
            }
        }
        assert!(sums.iter().all(Pending::is_ready));
    }
    assert!(fetched <= 15);
    format!("31 jobs on 4 workers, {fetched} of 30 inputs fetched")
}

fn long() -> String {
    let (farm, clock, [busy, idle]) = farm();
    farm.add_artifact(busy, (0, 1)).wait().unwrap();
    let _long = schedule(&farm, (0, 2));
    assert_eq!(pick(&farm, busy), Some((0, 2)));
    // ANCHOR: long
    let job = |id| farm.schedule_job(Job::with_dependencies((id, 0), [(0, 1)], ()));
    let shorts: Vec<_> = (1..=SHORTS as u64).map(job).collect();
    assert_eq!(pick(&farm, idle), None); // the busy worker has their input
    clock.advance(MINUTE);
    while let Some(id) = pick(&farm, idle) {
        farm.on_job_complete(idle, id, 0).wait().unwrap();
    }
    assert!(shorts.iter().all(Pending::is_ready));
    // ANCHOR_END: long
    format!("{SHORTS} short ones waited a minute, and moved")
}

fn failure() -> String {
    let (farm, clock, [lost, other]) = farm();
    let sum = schedule(&farm, (0, 1));
    clock.advance(MINUTE);
    // ANCHOR: failure
    let job = pick(&farm, lost).unwrap();
    let waits = farm.pick_job(other);
    assert_eq!(farm.remove_worker(lost).wait(), Ok(vec![job]));
    assert_eq!(waits.wait().unwrap().id, job); // given back, and picked at once
    farm.on_job_failed(other, job, 7).wait().unwrap();
    assert_eq!(*sum.wait().unwrap(), 7); // a failure is told; the build may try again
    // ANCHOR_END: failure
    "1 job was picked twice, and failed".to_owned()
}
