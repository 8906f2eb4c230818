//! The course of a build in virtual time: a queue of ends, and a policy that hears of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;

use super::farm::{Amount, Farm, Link, Worker};
use super::graph::{Graph, Job, Time};
use super::policy::{Moment, Policy};
use super::random::Random;

/// The farm before the build.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Setup {
    pub(crate) workers: u32,
    /// The number of jobs that a worker runs at a time.
    pub(crate) slots: u32,
    pub(crate) link: Link,
    /// The share of jobs whose result a random worker has already.
    pub(crate) cached: f64,
    pub(crate) seed: u64,
}

impl Setup {
    /// Returns the results that workers have already: pairs in the order of the jobs.
    pub(super) fn cached_results(&self, jobs: u32) -> Vec<(Job, Worker)> {
        let mut random = Random::new(self.seed, 1);
        let mut holder = |job| {
            let (is_cached, worker) = (random.unit() < self.cached, random.below(self.workers));
            is_cached.then_some((job, worker))
        };
        (0..jobs).filter_map(&mut holder).collect()
    }
}

/// The times at which a job was ready, began and ended, and its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) ready: Time,
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) worker: Worker,
}

/// The record of a job that has not ended.
const NEVER: Record = Record {
    ready: Time::MAX,
    start: Time::MAX,
    end: Time::MAX,
    worker: Worker::MAX,
};

/// The outcome of a simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Indexed by the job's number.
    pub(super) records: Vec<Record>,
    /// The inputs that were missing when jobs began.
    pub(super) moved: Amount,
    /// The inputs of jobs that ran: not of those whose worker had the result.
    pub(super) needed: Amount,
    /// Jobs whose worker had their result when they began.
    pub(super) results_used: u64,
    /// Jobs that became ready, began and ended, artifacts that came, deadlines.
    pub(super) events: u64,
}

/// Runs all jobs of the graph, each when its inputs have been made.
///
/// Events of one time happen in this order: a deadline; then the ends, in the order of the starts.
/// At an end: the worker gets the result, and the inputs that it fetched; dependents become ready,
/// in ascending order; the slot is free.
///
/// # Errors
/// The number of jobs that have ended, if the policy leaves the others waiting for ever.
pub(super) fn simulate(
    graph: &Graph,
    setup: &Setup,
    policy: &mut dyn Policy,
) -> Result<Outcome, u32> {
    let mut course = Course::new(graph, setup, policy);
    course.open();
    let mut ended = 0;
    loop {
        let end = course.ends.peek().map(|Reverse(end)| end.time);
        let deadline = course.policy.next_deadline();
        match (end, deadline) {
            (end, Some(deadline)) if end.is_none_or(|end| deadline <= end) => {
                // A policy may notice late that a deadline was past.
                course.now = course.now.max(deadline);
                course.tell(|policy, moment| policy.advance(moment));
            }
            (Some(_), _) => {
                course.end_next();
                ended += 1;
            }
            (None, _) => break,
        }
    }
    if ended < graph.jobs() {
        return Err(ended);
    }
    Ok(course.outcome)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    time: Time,
    /// The number of jobs that had started before.
    number: u32,
    job: Job,
}

struct Course<'a, 'g> {
    graph: &'g Graph,
    slots: u32,
    policy: &'a mut dyn Policy,
    now: Time,
    farm: Farm<'g>,
    ends: BinaryHeap<Reverse<End>>,
    /// The number of inputs of each job that have not been made.
    unmade: Vec<u32>,
    started: u32,
    outcome: Outcome,
    /// Empty between two calls.
    starts: Vec<(Worker, Job)>,
    /// The artifacts new to a worker of which the policy has not heard.
    gained: Vec<Job>,
}

impl<'a, 'g> Course<'a, 'g> {
    fn new(graph: &'g Graph, setup: &Setup, policy: &'a mut dyn Policy) -> Self {
        let mut course = Self {
            graph,
            slots: setup.slots,
            policy,
            now: 0,
            farm: Farm::new(graph, setup.workers, setup.link),
            ends: BinaryHeap::new(),
            unmade: (0..graph.jobs())
                .map(|job| graph.inputs(job).len() as u32)
                .collect(),
            started: 0,
            outcome: Outcome {
                records: vec![NEVER; graph.jobs() as usize],
                moved: Amount::default(),
                needed: Amount::default(),
                results_used: 0,
                events: 0,
            },
            starts: Vec::new(),
            gained: Vec::new(),
        };
        for (job, worker) in setup.cached_results(graph.jobs()) {
            course.keep(worker, job);
            course.tell_gained(worker);
        }
        course
    }

    /// Begins the build: all slots are free, and the jobs without inputs are ready.
    fn open(&mut self) {
        for _ in 0..self.slots {
            for worker in 0..self.farm.workers() {
                self.tell(|policy, moment| policy.free(worker, moment));
            }
        }
        for job in 0..self.graph.jobs() {
            if self.unmade[job as usize] == 0 {
                self.make_ready(job);
            }
        }
    }

    fn make_ready(&mut self, job: Job) {
        self.outcome.records[job as usize].ready = self.now;
        self.tell(|policy, moment| policy.ready(job, moment));
    }

    fn end_next(&mut self) {
        let Some(Reverse(End { time, job, .. })) = self.ends.pop() else {
            return;
        };
        self.now = time;
        let Record { worker, start, .. } = self.outcome.records[job as usize];
        // Else it had the result when the job began, and fetched nothing.
        if time > start {
            for &input in self.graph.inputs(job) {
                self.keep(worker, input);
            }
        }
        self.keep(worker, job);
        self.tell(|policy, moment| policy.ended(worker, job, moment));
        self.tell_gained(worker);
        let graph = self.graph;
        for &dependent in graph.dependents(job) {
            let unmade = &mut self.unmade[dependent as usize];
            *unmade -= 1;
            if *unmade == 0 {
                self.make_ready(dependent);
            }
        }
        self.tell(|policy, moment| policy.free(worker, moment));
    }

    /// Adds the artifact to the cache of the worker.
    fn keep(&mut self, worker: Worker, artifact: Job) {
        if self.farm.insert(worker, artifact) {
            self.gained.push(artifact);
        }
    }

    /// Tells the policy what is new in the cache of the worker.
    fn tell_gained(&mut self, worker: Worker) {
        let mut gained = mem::take(&mut self.gained);
        for artifact in gained.drain(..) {
            self.tell(|policy, moment| policy.gained(worker, artifact, moment));
        }
        self.gained = gained;
    }

    /// Makes a call of the policy, and starts the jobs that it decides to start.
    fn tell(&mut self, news: impl FnOnce(&mut dyn Policy, &mut Moment<'_, 'g>)) {
        self.outcome.events += 1;
        let mut starts = mem::take(&mut self.starts);
        let mut moment = Moment {
            now: self.now,
            farm: &self.farm,
            starts: &mut starts,
        };
        news(self.policy, &mut moment);
        for (worker, job) in starts.drain(..) {
            self.start(worker, job);
        }
        self.starts = starts;
    }

    fn start(&mut self, worker: Worker, job: Job) {
        let begun = self.farm.begin(worker, job);
        let (missing, busy) = begun.unwrap_or_default();
        let end = self.now.saturating_add(busy);
        let record = &mut self.outcome.records[job as usize];
        (record.start, record.end, record.worker) = (self.now, end, worker);
        let outcome = &mut self.outcome;
        outcome.moved.add(missing);
        if begun.is_none() {
            outcome.results_used += 1;
        } else {
            let inputs = self.graph.inputs(job);
            outcome.needed.add(Amount {
                inputs: inputs.len() as u64,
                bytes: inputs.iter().map(|&input| self.graph.size(input)).sum(),
            });
        }
        outcome.events += 1;
        self.ends.push(Reverse(End {
            time: end,
            number: self.started,
            job,
        }));
        self.started += 1;
    }
}
