//! Scopes of 1, 100 and 10 000 jobs that do nothing to speak of.
//!
//! Each job adds one to a number of its own, so that none can be left out. chili and lace have no
//! jobs but those that are forked.

use std::hint::black_box;

use super::contenders::pool;
use super::{OURS, SEQUENTIAL, of};
use crate::clock::cost;
use crate::harness::{Effort, Scenario, keeping};
use crate::pools::Threads;

/// Scopes of so many jobs, one after the other.
#[derive(Clone, Copy)]
struct Scopes {
    count: u64,
    jobs: u64,
}

pub(super) fn scenarios(threads: usize, effort: Effort) -> impl Iterator<Item = Scenario> {
    [1, 100, 10_000].into_iter().map(move |jobs| {
        let count = effort.operations(200_000).div_ceil(jobs);
        scenario(
            &format!("scope of {jobs} empty jobs"),
            threads,
            Scopes { count, jobs },
        )
    })
}

fn scenario(name: &str, threads: usize, scopes: Scopes) -> Scenario {
    let count = scopes.count;
    let ours = scopes.turn(
        move || pool(threads),
        move |pool, numbers| {
            pool.install(|worker| {
                for _ in 0..count {
                    worker.scope(|scope| {
                        for number in &mut *numbers {
                            scope.spawn(move |_, _| job(number));
                        }
                    });
                }
            });
        },
    );
    let rayon = scopes.turn(
        move || rayon::ThreadPool::with_workers(threads),
        move |pool, numbers| {
            pool.install(|| {
                for _ in 0..count {
                    rayon::scope(|scope| {
                        for number in &mut *numbers {
                            scope.spawn(move |_| job(number));
                        }
                    });
                }
            });
        },
    );
    let sequential = scopes.turn(
        || (),
        move |(), numbers| {
            for _ in 0..count {
                numbers.iter_mut().for_each(job);
            }
        },
    );
    of(name, threads, "ns per job")
        .contender(OURS, ours)
        .contender("rayon", rayon)
        .floor(SEQUENTIAL, sequential)
}

fn job(number: &mut u64) {
    *black_box(number) += 1;
}

impl Scopes {
    /// A turn of a contender, which runs all scopes on its pool.
    fn turn<P>(
        self,
        pool: impl FnOnce() -> P,
        run: impl Fn(&P, &mut [u64]),
    ) -> impl FnMut() -> f64 {
        keeping(pool, move |pool| {
            let mut numbers = vec![0; self.jobs as usize];
            let cost = cost(self.count * self.jobs, || run(pool, &mut numbers));
            assert!(numbers.iter().all(|&number| number == self.count));
            cost
        })
    }
}
