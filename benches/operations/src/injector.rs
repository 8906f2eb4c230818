//! The injector: push, pop, and a batch with one claim.

use std::hint::black_box;

use filch_deque::Worker;
use filch_injector::Injector;

use crate::Operation;

/// Items that are pushed or popped in a round.
const ITEMS: u64 = 1024;

/// Items that a batch has besides the first.
const MORE: usize = 31;

/// Batches of a round.
const BATCHES: u64 = 8;

fn fill(injector: &Injector<u64>, items: u64) {
    for item in 0..items {
        injector.push(black_box(item));
    }
}

fn empty(injector: &Injector<u64>) {
    while injector.pop().is_some() {}
}

/// A push that no other producer competes with.
#[derive(Debug)]
pub struct Push(Injector<u64>);

impl Operation for Push {
    const NAME: &'static str = "injector: push";
    const TIMES: u64 = ITEMS;

    fn new() -> Self {
        Self(Injector::new())
    }

    fn run(&mut self) {
        fill(&self.0, ITEMS);
    }

    fn restore(&mut self) {
        empty(&self.0);
    }
}

/// A pop that no other consumer competes with.
#[derive(Debug)]
pub struct Pop(Injector<u64>);

impl Operation for Pop {
    const NAME: &'static str = "injector: pop";
    const TIMES: u64 = ITEMS;

    fn new() -> Self {
        Self(Injector::new())
    }

    fn prepare(&mut self) {
        fill(&self.0, ITEMS);
    }

    fn run(&mut self) {
        for _ in 0..ITEMS {
            black_box(self.0.pop());
        }
    }
}

/// Thirty-two items with one claim: one comes back, the worker's deque gets the others.
///
/// A batch ends where its block does, so a block of 32 slots is one batch.
#[derive(Debug)]
pub struct PopBatch {
    injector: Injector<u64, { MORE + 1 }>,
    worker: Worker<u64>,
}

impl Operation for PopBatch {
    const NAME: &'static str = "injector: pop a batch of 32";
    const TIMES: u64 = BATCHES;

    fn new() -> Self {
        Self {
            injector: Injector::with_blocks(),
            worker: Worker::with_capacity(BATCHES as usize * (MORE + 1)),
        }
    }

    fn prepare(&mut self) {
        for item in 0..BATCHES * (MORE as u64 + 1) {
            self.injector.push(item);
        }
    }

    fn run(&mut self) {
        for _ in 0..BATCHES {
            black_box(self.injector.pop_batch_into(&self.worker, MORE));
        }
    }

    fn restore(&mut self) {
        assert!(self.injector.is_empty());
        assert_eq!(self.worker.len(), BATCHES as usize * MORE);
        while self.worker.pop().is_some() {}
    }
}
