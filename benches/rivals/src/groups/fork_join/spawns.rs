//! Scopes of 1, 100 and 10 000 jobs that do nothing to speak of, or take a microsecond.
//!
//! Each job adds one to a number of its own, so that none can be left out. chili and lace have no
//! jobs but those that are forked.

use std::hint::black_box;
use std::time::Duration;

use filch_fork_join::{Scope, scope};

use super::contenders::pool;
use super::of;
use super::programs::spin;
use crate::clock::cost;
use crate::harness::{Effort, Scenario, keeping};
use crate::pools::rayon_pool;

/// The work of a job, besides its own cost.
#[derive(Clone, Copy)]
enum Leaf {
    Empty,
    Microsecond,
}

impl Leaf {
    fn run(self, number: &mut u64) {
        *black_box(number) += 1;
        if let Self::Microsecond = self {
            spin(Duration::from_micros(1));
        }
    }
}

/// Scopes of so many jobs, one after the other.
#[derive(Clone, Copy)]
struct Shape {
    scopes: u64,
    jobs: u64,
    leaf: Leaf,
}

pub(super) fn scenarios(threads: usize, effort: Effort) -> impl Iterator<Item = Scenario> {
    let leaves = [
        (Leaf::Empty, "empty jobs", 200_000),
        (Leaf::Microsecond, "jobs of 1 us", 20_000),
    ];
    leaves.into_iter().flat_map(move |(leaf, what, full)| {
        [1, 100, 10_000].map(|jobs| {
            let shape = Shape {
                scopes: effort.operations(full).div_ceil(jobs),
                jobs,
                leaf,
            };
            scenario(&format!("scope of {jobs} {what}"), threads, shape)
        })
    })
}

fn scenario(name: &str, threads: usize, shape: Shape) -> Scenario {
    let Shape { scopes, leaf, .. } = shape;
    of(name, threads, "ns per job")
        .contender(
            "filch-fork-join",
            shape.turn(
                move || pool(threads),
                move |pool, numbers| {
                    pool.install(|worker| {
                        for _ in 0..scopes {
                            worker.scope(|scope| spawn(scope, leaf, numbers));
                        }
                    });
                },
            ),
        )
        .contender(
            "filch-fork-join, thread-local",
            shape.turn(
                move || pool(threads),
                move |pool, numbers| {
                    pool.install(|_| {
                        for _ in 0..scopes {
                            scope(|scope| spawn(scope, leaf, numbers));
                        }
                    });
                },
            ),
        )
        .contender(
            "rayon",
            shape.turn(
                move || rayon_pool(threads),
                move |pool, numbers| {
                    pool.install(|| {
                        for _ in 0..scopes {
                            rayon::scope(|scope| {
                                for number in &mut *numbers {
                                    scope.spawn(|_| leaf.run(number));
                                }
                            });
                        }
                    });
                },
            ),
        )
        .floor(
            "sequential",
            shape.turn(
                || (),
                move |(), numbers| {
                    for _ in 0..scopes {
                        numbers.iter_mut().for_each(|number| leaf.run(number));
                    }
                },
            ),
        )
}

fn spawn<'scope>(scope: &Scope<'scope>, leaf: Leaf, numbers: &'scope mut [u64]) {
    for number in numbers {
        scope.spawn(move |_, _| leaf.run(number));
    }
}

impl Shape {
    /// A turn of a contender, which runs all scopes on its pool.
    fn turn<P>(
        self,
        pool: impl FnOnce() -> P,
        run: impl Fn(&P, &mut [u64]),
    ) -> impl FnMut() -> f64 {
        keeping(pool, move |pool| {
            let mut numbers = vec![0; self.jobs as usize];
            let cost = cost(self.scopes * self.jobs, || run(pool, &mut numbers));
            assert!(numbers.iter().all(|&number| number == self.scopes));
            cost
        })
    }
}
