//! A worker that has an input first; after a while, or never, any.

use std::collections::VecDeque;

use super::idle::Idle;
use super::interface::{Moment, Policy};
use crate::build::simulate::farm::{Farm, Worker};
use crate::build::simulate::graph::{Job, Time};

/// A queue for each worker, and one for all. A job stands in the queues of the workers that have
/// its result; if there are none, of those that have one of its inputs. It stands in the queue for
/// all, too, if there is no such worker, or after `patience`. A free worker looks into its own
/// queue before it looks into that for all.
///
/// With patience without end, this is *always wait*. With the timeout of the heuristic, it differs
/// from that in three things: a job that nobody is near to does not wait; a worker prefers what it
/// is near to; and a job whose result is somewhere waits for that worker as long as for inputs.
#[derive(Debug)]
pub(super) struct Near {
    /// `None`: without end.
    patience: Option<Time>,
    stages: Vec<Stage>,
    /// Jobs here may have started, or their worker may be near to them no longer.
    own: Vec<VecDeque<Job>>,
    /// Jobs here may have started.
    all: VecDeque<Job>,
    /// In the order of their deadlines, since the patience is the same for all.
    deadlines: VecDeque<(Time, Job)>,
    idle: Idle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    NotReady,
    /// Waits for workers that are near.
    Near,
    /// Waits for any worker.
    All,
    Started,
}

impl Stage {
    fn waits(self) -> bool {
        matches!(self, Self::Near | Self::All)
    }
}

impl Near {
    pub(super) fn new(workers: u32, jobs: u32, patience: Option<Time>) -> Self {
        Self {
            patience,
            stages: vec![Stage::NotReady; jobs as usize],
            own: vec![VecDeque::new(); workers as usize],
            all: VecDeque::new(),
            deadlines: VecDeque::new(),
            idle: Idle::of(workers),
        }
    }

    fn stage(&mut self, job: Job) -> &mut Stage {
        &mut self.stages[job as usize]
    }

    fn start(&mut self, worker: Worker, job: Job, moment: &mut Moment<'_, '_>) {
        *self.stage(job) = Stage::Started;
        moment.starts.push((worker, job));
    }

    /// Any worker may have the job.
    fn open(&mut self, job: Job, moment: &mut Moment<'_, '_>) {
        *self.stage(job) = Stage::All;
        match self.idle.take() {
            Some(worker) => self.start(worker, job, moment),
            None => self.all.push_back(job),
        }
    }

    /// Offers a job that waits to all workers that are near, or to any if there are none. Whether
    /// its waiting is over: it has started, or any worker may have it.
    fn offer(&mut self, job: Job, moment: &mut Moment<'_, '_>) -> bool {
        let near = near(job, moment.farm);
        if near.is_empty() {
            self.open(job, moment);
            return true;
        }
        if let Some(worker) = self.idle.take_of(near.iter().copied()) {
            self.start(worker, job, moment);
            return true;
        }
        for worker in near {
            self.own[worker as usize].push_back(job);
        }
        false
    }

    /// The oldest job that the worker may have.
    fn next_for(&mut self, worker: Worker, farm: &Farm<'_>) -> Option<Job> {
        while let Some(job) = self.own[worker as usize].pop_front() {
            if self.stage(job).waits() && farm.is_near(worker, job) {
                return Some(job);
            }
        }
        while let Some(job) = self.all.pop_front() {
            if self.stage(job).waits() {
                return Some(job);
            }
        }
        None
    }
}

/// The workers for which [`Farm::is_near`] holds, each once.
fn near(job: Job, farm: &Farm<'_>) -> Vec<Worker> {
    let holders = farm.holders(job);
    if !holders.is_empty() {
        return holders.to_vec();
    }
    let inputs = farm.graph().inputs(job).iter();
    let mut workers: Vec<_> = inputs.flat_map(|&at| farm.holders(at)).copied().collect();
    workers.sort_unstable();
    workers.dedup();
    workers
}

impl Policy for Near {
    fn ready(&mut self, job: Job, moment: &mut Moment<'_, '_>) {
        *self.stage(job) = Stage::Near;
        if self.offer(job, moment) {
            return;
        }
        match self.patience {
            None => {}
            Some(0) => self.open(job, moment),
            Some(patience) => {
                let deadline = moment.now.saturating_add(patience);
                self.deadlines.push_back((deadline, job));
            }
        }
    }

    fn free(&mut self, worker: Worker, moment: &mut Moment<'_, '_>) {
        match self.next_for(worker, moment.farm) {
            Some(job) => self.start(worker, job, moment),
            None => self.idle.add(worker),
        }
    }

    fn gained(&mut self, worker: Worker, artifact: Job, moment: &mut Moment<'_, '_>) {
        let dependents = moment.farm.graph().dependents(artifact).iter();
        for &job in dependents.chain([&artifact]) {
            if !self.stage(job).waits() || !moment.farm.is_near(worker, job) {
                continue;
            }
            match self.idle.take_of([worker].into_iter()) {
                Some(worker) => self.start(worker, job, moment),
                // It may stand there already.
                None => self.own[worker as usize].push_back(job),
            }
        }
    }

    fn lost(&mut self, _worker: Worker, artifact: Job, moment: &mut Moment<'_, '_>) {
        let graph = moment.farm.graph();
        for &job in graph.dependents(artifact).iter().chain([&artifact]) {
            let is_last = moment.farm.holders(artifact).is_empty();
            if is_last && *self.stage(job) == Stage::Near {
                self.offer(job, moment);
            }
        }
    }

    fn next_deadline(&self) -> Option<Time> {
        self.deadlines.front().map(|&(deadline, _)| deadline)
    }

    fn advance(&mut self, moment: &mut Moment<'_, '_>) {
        while let Some(&(deadline, job)) = self.deadlines.front()
            && deadline <= moment.now
        {
            self.deadlines.pop_front();
            if *self.stage(job) == Stage::Near {
                self.open(job, moment);
            }
        }
    }
}
