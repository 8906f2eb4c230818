//! The oldest job goes to any worker.

use std::collections::VecDeque;

use super::interface::{Moment, Policy};
use crate::build::simulate::farm::Worker;
use crate::build::simulate::graph::Job;

/// One queue. A free worker takes the oldest job; a job goes to the worker that has been free for
/// longest. Caches do not matter.
#[derive(Debug)]
pub(super) struct Fifo {
    waiting: VecDeque<Job>,
    /// The free slots; the one free for longest comes first.
    free: VecDeque<Worker>,
}

impl Fifo {
    pub(super) fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            free: VecDeque::new(),
        }
    }
}

impl Policy for Fifo {
    fn ready(&mut self, job: Job, moment: &mut Moment<'_, '_>) {
        match self.free.pop_front() {
            Some(worker) => moment.starts.push((worker, job)),
            None => self.waiting.push_back(job),
        }
    }

    fn free(&mut self, worker: Worker, moment: &mut Moment<'_, '_>) {
        match self.waiting.pop_front() {
            Some(job) => moment.starts.push((worker, job)),
            None => self.free.push_back(worker),
        }
    }
}
