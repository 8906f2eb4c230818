//! rayon's pool: tasks in scopes, which return nothing; they add to sums themselves.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::ThreadPool;

use super::{Spawner, Tasks, Threads};

impl Threads for ThreadPool {
    fn with_workers(workers: usize) -> Self {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(workers);
        builder.build().expect("the system gives threads")
    }
}

impl Tasks for ThreadPool {
    fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        Self::spawn(self, task);
    }
}

impl Spawner for ThreadPool {
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
}
