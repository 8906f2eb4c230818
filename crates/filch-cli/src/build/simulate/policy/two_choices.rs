//! The less loaded of two random workers.

use std::collections::VecDeque;

use super::interface::{Moment, Policy};
use crate::build::simulate::farm::Worker;
use crate::build::simulate::graph::Job;
use crate::build::simulate::random::Random;

/// A queue for each worker. A job goes to the shorter queue of two random ones when it becomes
/// ready, and stays there; the running job counts. Caches do not matter. M. Mitzenmacher, *The
/// Power of Two Choices in Randomized Load Balancing*, 2001.
#[derive(Debug)]
pub(super) struct TwoChoices {
    random: Random,
    workers: Vec<Own>,
}

#[derive(Debug, Clone, Default)]
struct Own {
    waiting: VecDeque<Job>,
    free: u32,
    /// Jobs that wait or run.
    load: u32,
}

impl TwoChoices {
    pub(super) fn new(workers: u32, seed: u64) -> Self {
        Self {
            random: Random::new(seed, 2),
            workers: vec![Own::default(); workers as usize],
        }
    }

    /// Returns the less loaded of two different workers; the first, if they are equal.
    fn choose(&mut self) -> Worker {
        let count = self.workers.len() as u32;
        let first = self.random.below(count);
        if count == 1 {
            return first;
        }
        let second = (first + 1 + self.random.below(count - 1)) % count;
        let load = |worker: Worker| self.workers[worker as usize].load;
        if load(second) < load(first) {
            second
        } else {
            first
        }
    }
}

impl Policy for TwoChoices {
    fn ready(&mut self, job: Job, moment: &mut Moment<'_, '_>) {
        let worker = self.choose();
        let own = &mut self.workers[worker as usize];
        own.load += 1;
        if own.free > 0 {
            own.free -= 1;
            moment.starts.push((worker, job));
        } else {
            own.waiting.push_back(job);
        }
    }

    fn free(&mut self, worker: Worker, moment: &mut Moment<'_, '_>) {
        let own = &mut self.workers[worker as usize];
        match own.waiting.pop_front() {
            Some(job) => moment.starts.push((worker, job)),
            None => own.free += 1,
        }
    }

    fn ended(&mut self, worker: Worker, _job: Job, _moment: &mut Moment<'_, '_>) {
        self.workers[worker as usize].load -= 1;
    }
}
