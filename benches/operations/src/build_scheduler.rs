//! The build scheduler, of which one thread is all builds and all workers.

use filch_build_scheduler::{Config, Job, Scheduler, WorkerId};
use filch_timers::Timers;

use crate::Measure;

/// Jobs of a round.
pub(crate) const JOBS: u64 = 1000;

/// Workers, each of which has the artifact of its own number.
const WORKERS: u64 = 100;

/// A job of one dependency is scheduled, picked by the worker that has that, completed, and its
/// result is taken.
pub(crate) fn build(measure: &mut dyn Measure) {
    let timers = Timers::new().expect("a thread");
    let farm: Scheduler<u64, u64, u64> = Scheduler::new(Config::default(), &timers);
    let workers = (0..WORKERS).map(|number| {
        let worker = farm.register_worker().wait().expect("not stopped");
        let added = farm.add_artifact(worker, number).wait();
        added.expect("it is there");
        worker
    });
    let workers: Vec<WorkerId> = workers.collect();
    let ids = || (0..JOBS).map(|job| (WORKERS + job, (job % WORKERS) as usize));
    while measure.goes_on() {
        measure.round(&mut || {
            for (id, number) in ids() {
                let worker = workers[number];
                let job = Job::with_dependencies(id, [number as u64], id);
                let pending = farm.schedule_job(job);
                let job = farm.pick_job(worker).wait().expect("a job");
                let report = farm.on_job_complete(worker, job.id, job.content);
                assert_eq!(report.wait(), Ok(true));
                assert_eq!(*pending.wait().expect("a result"), id);
            }
        });
        for (id, number) in ids() {
            let removed = farm.remove_artifact(workers[number], id);
            assert_eq!(removed.wait(), Ok(true));
        }
    }
}
