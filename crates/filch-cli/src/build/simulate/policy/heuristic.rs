//! The build scheduler of filch: its `Planner` decides.

use std::time::Duration;

use filch::build_scheduler::{Config, Grant, Planner, WorkerId};

use super::{Moment, Policy};
use crate::build::simulate::farm::Worker;
use crate::build::simulate::graph::{Job, Time};

/// The planner, with numbers for its workers. The content of a pick is the worker that made it.
#[derive(Debug)]
pub(super) struct Heuristic {
    planner: Planner<Job, (), Worker>,
    workers: Vec<WorkerId>,
}

impl Heuristic {
    pub(super) fn new(workers: u32, config: Config) -> Self {
        let mut planner = Planner::new(config);
        let workers = (0..workers).map(|_| planner.register_worker()).collect();
        Self { planner, workers }
    }

    /// Tells the planner the time, then makes a call that may decide.
    fn call(
        &mut self,
        moment: &mut Moment<'_, '_>,
        call: impl FnOnce(&mut Planner<Job, (), Worker>, &[WorkerId], Sink<'_>),
    ) {
        let starts = &mut *moment.starts;
        let mut sink = |grant: Grant<'_, Job, (), Worker>| starts.push((grant.pick, *grant.id));
        self.planner
            .advance(Duration::from_nanos(moment.now), &mut sink);
        call(&mut self.planner, &self.workers, &mut sink);
    }
}

type Sink<'s> = filch::build_scheduler::Sink<'s, Job, (), Worker>;

/// Unwraps a result: the planner refuses only unknown workers, and jobs that wait already.
fn expect<T, E>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(_) => unreachable!("workers are never removed, and a job is ready once"),
    }
}

impl Policy for Heuristic {
    fn ready(&mut self, job: Job, moment: &mut Moment<'_, '_>) {
        let (now, inputs) = (moment.now, moment.farm.graph().inputs(job));
        self.call(moment, |planner, _, sink| {
            let now = Duration::from_nanos(now);
            expect(planner.schedule(now, job, inputs, (), sink));
        });
    }

    fn free(&mut self, worker: Worker, moment: &mut Moment<'_, '_>) {
        self.call(moment, |planner, workers, sink| {
            expect(planner.pick(workers[worker as usize], worker, sink));
        });
    }

    fn ended(&mut self, worker: Worker, job: Job, moment: &mut Moment<'_, '_>) {
        self.call(moment, |planner, workers, sink| {
            expect(planner.complete(workers[worker as usize], job, sink));
        });
    }

    fn gained(&mut self, worker: Worker, artifact: Job, moment: &mut Moment<'_, '_>) {
        self.call(moment, |planner, workers, sink| {
            expect(planner.add_artifact(workers[worker as usize], artifact, sink));
        });
    }

    fn next_deadline(&self) -> Option<Time> {
        let deadline = self.planner.next_deadline()?;
        Some(u64::try_from(deadline.as_nanos()).unwrap_or(Time::MAX))
    }

    fn advance(&mut self, moment: &mut Moment<'_, '_>) {
        self.call(moment, |_, _, _| {});
    }
}
