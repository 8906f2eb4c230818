//! Many jobs that do next to nothing: leaves of an iterator, spawned ones, and ones from outside.

use std::sync::Barrier;
use std::thread;

use rayon::prelude::*;
use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

use crate::program::{Effort, Prepared, Program, mixed};

/// 10 000 items, each a leaf of its own; over and over.
pub(crate) const LEAVES: Program = Program {
    name: "leaves",
    prepare: |effort| {
        let items: Vec<u64> = (0..10_000).collect();
        let times = effort.pick(100, 2);
        Prepared::new(
            move || items.clone(),
            move |items| {
                let sum = || items.iter().copied().map(mixed).fold(0, u64::wrapping_add);
                (0..times).map(|_| sum()).fold(0, u64::wrapping_add)
            },
            move |items| {
                let sum = || {
                    let leaves = items.par_iter().with_max_len(1);
                    leaves.copied().map(mixed).reduce(|| 0, u64::wrapping_add)
                };
                rayon::scope(|_| (0..times).map(|_| sum()).fold(0, u64::wrapping_add))
            },
        )
    },
};

/// A scope with 10 000 jobs, over and over.
pub(crate) const SPAWNS: Program = Program {
    name: "spawns",
    prepare: |effort| {
        jobs(effort, |results, round| {
            rayon::scope(|scope| {
                for result in results.iter_mut() {
                    scope.spawn(move |_| *result = mixed(*result ^ round));
                }
            });
        })
    },
};

/// The same, the oldest job first.
pub(crate) const SPAWNS_FIFO: Program = Program {
    name: "spawns-fifo",
    prepare: |effort| {
        jobs(effort, |results, round| {
            rayon::scope_fifo(|scope| {
                for result in results.iter_mut() {
                    scope.spawn_fifo(move |_| *result = mixed(*result ^ round));
                }
            });
        })
    },
};

/// The same, as a tree: each job has half of those of its parent, and spawns two, down to one.
pub(crate) const SPAWN_TREE: Program = Program {
    name: "spawn-tree",
    prepare: |effort| {
        jobs(effort, |results, round| {
            rayon::scope(|scope| halves(scope, results, round));
        })
    },
};

fn halves<'a>(scope: &Scope<'a>, results: &'a mut [u64], round: u64) {
    if let [result] = results {
        *result = mixed(*result ^ round);
        return;
    }
    let (left, right) = results.split_at_mut(results.len() / 2);
    scope.spawn(move |scope| halves(scope, left, round));
    scope.spawn(move |scope| halves(scope, right, round));
}

/// 10 000 jobs, over and over, by that way to spawn them.
fn jobs(effort: Effort, spawn: fn(&mut [u64], u64)) -> Prepared {
    let times = effort.pick(50, 2);
    Prepared::new(
        || vec![0; 10_000],
        move |results| {
            for round in 0..times {
                for result in results.iter_mut() {
                    *result = mixed(*result ^ round);
                }
            }
            results.clone()
        },
        move |results| {
            (0..times).for_each(|round| spawn(results, round));
            results.clone()
        },
    )
}

/// The threads outside of the pool, which all call it at once.
const OUTSIDE: u64 = 8;

/// Each of them runs a job in the pool and waits for it, over and over.
pub(crate) const INSTALLS: Program = Program {
    name: "installs",
    prepare: |effort| {
        let times = effort.pick(2_000, 50);
        Prepared::new(
            || pool(0),
            move |_| from_outside(times, mixed),
            move |pool| from_outside(times, |number| pool.install(|| mixed(number))),
        )
    },
};

/// A job of one pool has jobs run in another, one after the other; a thread in each.
pub(crate) const BETWEEN: Program = Program {
    name: "between-pools",
    prepare: |effort| {
        let times = effort.pick(5_000, 50);
        let sum = move |call: &dyn Fn(u64) -> u64| (0..times).map(call).fold(0, u64::wrapping_add);
        Prepared::new(
            || [pool(1), pool(1)],
            move |_| sum(&mixed),
            move |[one, other]| {
                let other = &*other;
                one.install(|| sum(&|number| other.install(|| mixed(number))))
            },
        )
    },
};

/// So many threads; 0: as many as there are cores.
fn pool(threads: usize) -> ThreadPool {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("the system gives threads")
}

fn from_outside(times: u64, call: impl Fn(u64) -> u64 + Sync) -> u64 {
    let together = Barrier::new(OUTSIDE as usize);
    let calls = |first: u64| {
        together.wait();
        (first..first + times).map(&call).fold(0, u64::wrapping_add)
    };
    thread::scope(|scope| {
        let start = |thread| scope.spawn(move || calls(thread * times));
        let threads: Vec<_> = (0..OUTSIDE).map(start).collect();
        let sums = threads
            .into_iter()
            .map(|thread| thread.join().expect("no call panics"));
        sums.fold(0, u64::wrapping_add)
    })
}
