//! The injector: push, pop, and a batch with one claim.

use std::hint::black_box;

use filch_deque::Worker;
use filch_injector::Injector;

use crate::Measure;

/// Items that are pushed or popped in a round.
pub(crate) const ITEMS: u64 = 1024;

/// Batches of a round.
pub(crate) const BATCHES: u64 = 8;

/// Items that a batch has besides the first.
const MORE: usize = 31;

fn fill(injector: &Injector<u64>) {
    for item in 0..ITEMS {
        injector.push(black_box(item));
    }
}

/// A push that no other producer competes with.
pub(crate) fn push(measure: &mut dyn Measure) {
    let injector = Injector::new();
    while measure.goes_on() {
        measure.round(&mut || fill(&injector));
        while injector.pop().is_some() {}
    }
}

/// A pop that no other consumer competes with.
pub(crate) fn pop(measure: &mut dyn Measure) {
    let injector = Injector::new();
    while measure.goes_on() {
        fill(&injector);
        measure.round(&mut || {
            for _ in 0..ITEMS {
                black_box(injector.pop());
            }
        });
    }
}

/// Thirty-two items with one claim: one comes back, the worker's deque gets the others.
///
/// A batch ends where its block does, so a block of 32 slots is one batch.
pub(crate) fn pop_batch(measure: &mut dyn Measure) {
    let injector: Injector<u64, { MORE + 1 }> = Injector::with_blocks();
    let worker = Worker::with_capacity(BATCHES as usize * (MORE + 1));
    while measure.goes_on() {
        (0..BATCHES * (MORE as u64 + 1)).for_each(|item| injector.push(item));
        measure.round(&mut || {
            for _ in 0..BATCHES {
                black_box(injector.pop_batch_into(&worker, MORE));
            }
        });
        assert!(injector.is_empty());
        assert_eq!(worker.len(), BATCHES as usize * MORE);
        while worker.pop().is_some() {}
    }
}
