//! The build scheduler, of which one thread is all builds and all workers.

use filch_build_scheduler::{Config, Job, Scheduler, WorkerId};
use filch_timers::Timers;

use crate::Operation;

/// Workers, each of which has the artifact of its own number.
const WORKERS: u64 = 100;

/// A job of one dependency is scheduled, picked by the worker that has that, completed, and its
/// result is taken.
pub(crate) struct Build {
    scheduler: Scheduler<u64, u64, u64>,
    workers: Vec<WorkerId>,
}

impl Build {
    fn ids() -> impl Iterator<Item = (u64, usize)> {
        (0..Self::TIMES).map(|job| (WORKERS + job, (job % WORKERS) as usize))
    }
}

impl Operation for Build {
    const NAME: &'static str = "build-scheduler: schedule, pick, complete";
    const TIMES: u64 = 1000;

    fn new() -> Self {
        let timers = Timers::new().expect("a thread");
        let scheduler = Scheduler::new(Config::default(), &timers);
        let workers = (0..WORKERS).map(|number| {
            let worker = scheduler.register_worker().wait().expect("not stopped");
            let added = scheduler.add_artifact(worker, number).wait();
            added.expect("it is there");
            worker
        });
        Self {
            workers: workers.collect(),
            scheduler,
        }
    }

    fn run(&mut self) {
        for (id, number) in Self::ids() {
            let (farm, worker) = (&self.scheduler, self.workers[number]);
            let job = Job::with_dependencies(id, [number as u64], id);
            let pending = farm.schedule_job(job);
            let job = farm.pick_job(worker).wait().expect("a job");
            let report = farm.on_job_complete(worker, job.id, job.content);
            assert_eq!(report.wait(), Ok(true));
            assert_eq!(*pending.wait().expect("a result"), id);
        }
    }

    fn restore(&mut self) {
        for (id, number) in Self::ids() {
            let removed = self.scheduler.remove_artifact(self.workers[number], id);
            assert_eq!(removed.wait(), Ok(true));
        }
    }
}
