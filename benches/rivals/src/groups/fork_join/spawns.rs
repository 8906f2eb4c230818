//! Scopes of 1, 100 and 10 000 jobs that do nothing to speak of.
//!
//! Each job adds one to a number of its own, so that none can be left out. chili and lace have no
//! jobs but those that are forked.

use std::hint::black_box;

use filch_fork_join::Pool;
use rayon::ThreadPool;

use super::contenders::pool;
use super::{OURS, SEQUENTIAL, of};
use crate::clock::cost;
use crate::harness::{Scenario, keeping};
use crate::pools::Threads;

pub(super) fn scenarios(threads: usize) -> impl Iterator<Item = Scenario> {
    [1, 100, 10_000].into_iter().map(move |jobs| {
        let count = 25_000_u64.div_ceil(jobs);
        let ours = move |pool: &Pool, numbers: &mut [u64]| {
            pool.install(|worker| {
                for _ in 0..count {
                    worker.scope(|scope| {
                        for number in &mut *numbers {
                            scope.spawn(move |_, _| job(number));
                        }
                    });
                }
            });
        };
        let rayons = move |pool: &ThreadPool, numbers: &mut [u64]| {
            pool.install(|| {
                for _ in 0..count {
                    rayon::scope(|scope| {
                        for number in &mut *numbers {
                            scope.spawn(move |_| job(number));
                        }
                    });
                }
            });
        };
        let sequential = move |(): &(), numbers: &mut [u64]| {
            (0..count).for_each(|_| numbers.iter_mut().for_each(job));
        };
        let rayons_pool = move || ThreadPool::with_workers(threads);
        of(
            &format!("scope of {jobs} empty jobs"),
            threads,
            "ns per job",
        )
        .contender(OURS, turn([count, jobs], move || pool(threads), ours))
        .contender("rayon", turn([count, jobs], rayons_pool, rayons))
        .floor(SEQUENTIAL, turn([count, jobs], || (), sequential))
    })
}

fn job(number: &mut u64) {
    *black_box(number) += 1;
}

/// A turn of a contender, which runs so many scopes of so many jobs on its pool.
fn turn<P>(
    [count, jobs]: [u64; 2],
    pool: impl FnOnce() -> P,
    run: impl Fn(&P, &mut [u64]),
) -> impl FnMut() -> f64 {
    keeping(pool, move |pool| {
        let mut numbers = vec![0; jobs as usize];
        let cost = cost(count * jobs, || run(pool, &mut numbers));
        assert!(numbers.iter().all(|&number| number == count));
        cost
    })
}
