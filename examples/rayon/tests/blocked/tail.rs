//! Many more items than threads, each of which waits until every thread has one.

use std::ops::Range;

use rayon::prelude::*;
use rayon::{Scope, join, scope};

use crate::gate::Gate;
use crate::{ROUNDS, join_alone, on_3_8_and_12_threads, pool_of};

const ITEMS: usize = 100;

/// The items of an inner iterator, if there is one.
const GROUP: usize = 10;

on_3_8_and_12_threads! {
    equal_items: |threads| tail(threads, by_halves, equal);
    heavy_tailed_items: |threads| tail(threads, by_halves, heavy_tailed);
    items_of_items: |threads| tail(threads, in_groups, heavy_tailed);
    items_forked_while_all_are_busy: |threads| tail(threads, forked_by_one, first_to_the_end);
    items_spawned_while_all_are_busy: |threads| tail(threads, spawned_by_one, first_to_the_end);
}

/// Runs `program`, which must hold each of the items at the gate, once.
fn tail(threads: usize, program: fn(&Gate), openings_of: fn(usize) -> usize) {
    let pool = pool_of(threads);
    for _ in 0..ROUNDS / 4 {
        let gate = Gate::new(threads, ITEMS, openings_of);
        pool.install(|| program(&gate));
        gate.check();
    }
}

fn equal(_: usize) -> usize {
    1
}

/// Holds three neighbours of 17 items eight times as long as the others.
fn heavy_tailed(item: usize) -> usize {
    match item * item % 17 {
        0 | 1 => 8,
        _ => 1,
    }
}

fn first_to_the_end(item: usize) -> usize {
    if item == 0 { ITEMS } else { 1 }
}

fn by_halves(gate: &Gate) {
    let items = (0..ITEMS).into_par_iter().with_max_len(1);
    items.for_each(|item| gate.hold(item));
}

/// Each item of the outer iterator waits for those of an inner one.
fn in_groups(gate: &Gate) {
    let groups = (0..ITEMS / GROUP).into_par_iter().with_max_len(1);
    groups.for_each(|group| {
        let items = (0..GROUP).into_par_iter().with_max_len(1);
        items.for_each(|item| gate.hold(group * GROUP + item));
    });
}

/// One thread forks items, each under the one before, and is then held itself, in the first one.
fn forked_by_one(gate: &Gate) {
    fn fork(gate: &Gate, mut items: Range<usize>) {
        match items.next() {
            Some(item) => drop(join(|| fork(gate, items), || gate.hold(item))),
            None => gate.hold(0),
        }
    }
    beside_busy_threads(gate, |_, items| {
        join_alone();
        fork(gate, items);
    });
}

/// As [`forked_by_one`], with jobs of a scope.
fn spawned_by_one(gate: &Gate) {
    beside_busy_threads(gate, |jobs, items| {
        spawn(gate, jobs, items);
        gate.hold(0);
    });
}

/// Calls `then` with the other items, besides the first one, when an item is held on each other
/// thread.
fn beside_busy_threads<'gate>(
    gate: &'gate Gate,
    then: impl FnOnce(&Scope<'gate>, Range<usize>) + Send,
) {
    scope(|jobs| {
        spawn(gate, jobs, 1..gate.threads());
        gate.wait_for_the_others();
        then(jobs, gate.threads()..ITEMS);
    });
}

fn spawn<'gate>(gate: &'gate Gate, jobs: &Scope<'gate>, items: Range<usize>) {
    for item in items {
        jobs.spawn(move |_| gate.hold(item));
    }
}
