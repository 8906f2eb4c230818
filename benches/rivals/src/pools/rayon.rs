//! rayon's pool: tasks in scopes, which return nothing; they add to sums themselves.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::ThreadPool;

use super::{Spawner, TOTAL};

pub(crate) fn rayon_pool(workers: usize) -> ThreadPool {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(workers);
    builder.build().expect("the system gives threads")
}

impl Spawner for ThreadPool {
    fn new(workers: usize) -> Self {
        rayon_pool(workers)
    }

    fn spawn_all(&self, count: u64) -> u64 {
        let sum = AtomicU64::new(0);
        self.in_place_scope(|scope| {
            for number in 1..=count {
                let sum = &sum;
                scope.spawn(move |_| {
                    sum.fetch_add(number, Ordering::Relaxed);
                });
            }
        });
        sum.into_inner()
    }

    fn spawn_inside(&self, count: u64) {
        self.in_place_scope(|scope| {
            scope.spawn(move |scope| {
                for number in 1..=count {
                    scope.spawn(move |_| TOTAL.add(number));
                }
            });
        });
    }
}
