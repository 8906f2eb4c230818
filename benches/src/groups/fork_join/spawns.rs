//! Scopes of 1, 100 and 10 000 jobs that do nothing to speak of, or take a microsecond.
//!
//! Each job adds one to a number of its own, so that none can be left out. chili and lace have no
//! jobs but those that are forked.

use std::cell::LazyCell;
use std::hint::black_box;
use std::time::Duration;

use filch_fork_join::{Scope, scope};

use super::contenders::pool;
use super::programs::spin;
use crate::harness::{Effort, Scenario, per_operation, time};
use crate::rivals::rayon_pool_of;

/// What a job does, besides what it costs.
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
            scenario(
                format!("scope of {jobs} {what}, threads: {threads}"),
                threads,
                shape,
            )
        })
    })
}

fn scenario(name: String, threads: usize, shape: Shape) -> Scenario {
    let ours = LazyCell::new(move || pool(threads));
    let local = LazyCell::new(move || pool(threads));
    let rayon = LazyCell::new(move || rayon_pool_of(threads));
    Scenario::new(name, "ns per job")
        .contender(
            "filch-fork-join",
            shape.round(move |numbers| {
                ours.install(|worker| {
                    for _ in 0..shape.scopes {
                        worker.scope(|scope| spawn(scope, shape.leaf, numbers));
                    }
                });
            }),
        )
        .contender(
            "filch-fork-join, thread-local",
            shape.round(move |numbers| {
                local.install(|_| {
                    for _ in 0..shape.scopes {
                        scope(|scope| spawn(scope, shape.leaf, numbers));
                    }
                });
            }),
        )
        .contender(
            "rayon",
            shape.round(move |numbers| {
                rayon.install(|| {
                    for _ in 0..shape.scopes {
                        rayon::scope(|scope| {
                            for number in &mut *numbers {
                                scope.spawn(|_| shape.leaf.run(number));
                            }
                        });
                    }
                });
            }),
        )
        .floor(
            "sequential",
            shape.round(move |numbers| {
                for _ in 0..shape.scopes {
                    numbers.iter_mut().for_each(|number| shape.leaf.run(number));
                }
            }),
        )
}

fn spawn<'scope>(scope: &Scope<'scope>, leaf: Leaf, numbers: &'scope mut [u64]) {
    for number in numbers {
        scope.spawn(move |_, _| leaf.run(number));
    }
}

impl Shape {
    /// A round of a contender, which runs all scopes.
    fn round(self, run: impl Fn(&mut [u64]) + 'static) -> impl FnMut() -> f64 + 'static {
        move || {
            let mut numbers = vec![0; self.jobs as usize];
            let elapsed = time(|| run(&mut numbers));
            assert!(numbers.iter().all(|&number| number == self.scopes));
            per_operation(elapsed, self.scopes * self.jobs)
        }
    }
}
