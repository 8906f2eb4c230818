//! The owner's two methods, of a shared deque and of a biased one, and a thief's half.

use std::hint::black_box;

use filch_deque::Worker;
use filch_sync::asymmetric;

use crate::Measure;

/// Items that are pushed or popped in a round.
pub(crate) const ITEMS: u64 = 1024;

/// Victims that are robbed in a round.
pub(crate) const VICTIMS: usize = 16;

/// Items that a thief takes: half of what its victim has.
const HALF: usize = 64;

fn fill(worker: &Worker<u64>, items: u64) {
    for item in 0..items {
        worker.push(black_box(item));
    }
}

fn empty(worker: &Worker<u64>) {
    while worker.pop().is_some() {}
}

fn shared() -> Worker<u64> {
    Worker::with_capacity(2 * ITEMS as usize)
}

/// A deque that is its owner's: no thief has come.
fn biased() -> Worker<u64> {
    asymmetric::register();
    let worker = Worker::biased(2 * ITEMS as usize);
    fill(&worker, 1);
    empty(&worker);
    worker
}

/// A push, where there is room.
pub(crate) fn push(measure: &mut dyn Measure) {
    pushes(measure, &shared());
}

pub(crate) fn biased_push(measure: &mut dyn Measure) {
    pushes(measure, &biased());
}

fn pushes(measure: &mut dyn Measure, worker: &Worker<u64>) {
    while measure.goes_on() {
        measure.round(&mut || fill(worker, ITEMS));
        empty(worker);
    }
}

/// A pop, where there is an item.
pub(crate) fn pop(measure: &mut dyn Measure) {
    pops(measure, &shared());
}

pub(crate) fn biased_pop(measure: &mut dyn Measure) {
    pops(measure, &biased());
}

fn pops(measure: &mut dyn Measure, worker: &Worker<u64>) {
    while measure.goes_on() {
        fill(worker, ITEMS);
        measure.round(&mut || {
            for _ in 0..ITEMS {
                black_box(worker.pop());
            }
        });
    }
}

/// `steal_half_into` of 64 items: the thief gets one, its own deque the others.
pub(crate) fn steal_half(measure: &mut dyn Measure) {
    let victims = [(); VICTIMS].map(|()| Worker::with_capacity(2 * HALF));
    let stealers = victims.each_ref().map(Worker::stealer);
    let thief = Worker::with_capacity(VICTIMS * HALF);
    while measure.goes_on() {
        victims
            .iter()
            .for_each(|victim| fill(victim, 2 * HALF as u64));
        measure.round(&mut || {
            for stealer in &stealers {
                assert!(black_box(stealer.steal_half_into(&thief, HALF)).is_success());
            }
        });
        assert_eq!(thief.len(), VICTIMS * (HALF - 1));
        empty(&thief);
        victims.iter().for_each(empty);
    }
}
