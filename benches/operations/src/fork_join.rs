//! Joins, and spawned jobs, on the only thread of a pool.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;

use filch_fork_join::{Config, Pool, Worker, join};

use crate::job::{BEDTIME, mark};

/// The sum of so many ones, by halves.
pub(crate) fn tree(leaves: u64) {
    fn sum(worker: &Worker, leaves: u64) -> u64 {
        if leaves == 1 {
            return 1;
        }
        let (left, right) = worker.join(
            |worker| sum(worker, leaves / 2),
            |worker| sum(worker, leaves - leaves / 2),
        );
        left + right
    }

    assert_eq!(with_worker(|worker| sum(worker, leaves)), leaves);
}

/// The same, where each join looks for the thread's worker.
pub(crate) fn tree_without_worker(leaves: u64) {
    fn sum(leaves: u64) -> u64 {
        if leaves == 1 {
            return 1;
        }
        // The road of a fork begins.
        let (left, right) = join(|| sum(leaves / 2), || sum(leaves - leaves / 2));
        left + right
    }

    assert_eq!(with_worker(|_| sum(leaves)), leaves);
}

/// Joins of which one branch is stolen: by the same thread, in a wait within the other one.
pub(crate) fn stolen(times: u64) {
    let sum = with_worker(|worker| {
        let step = |sum, _| {
            let (ran, one) = worker.join(Worker::yield_now, |_| black_box(1));
            assert!(ran, "it was stolen");
            sum + one
        };
        (0..times).fold(0, step)
    });
    assert_eq!(sum, times);
}

/// Joins of which a thread that slept steals one branch.
pub(crate) fn stolen_by_another(times: u64) {
    let pool = Pool::new(2).expect("the system gives threads");
    pool.install(|worker| {
        for _ in 0..times {
            let begun = Barrier::new(2);
            let half = |_: &Worker| _ = begun.wait();
            mark(); // The road of a stolen fork begins.
            worker.join(half, half);
            mark(); // The road of a stolen fork ends.
            thread::sleep(BEDTIME);
        }
    });
}

/// Jobs that are spawned into scopes, so many at a time, and run here.
pub(crate) fn spawned(times: u64) {
    const BROOD: u64 = 64;

    with_worker(|worker| {
        let mut left = times;
        let mut numbers = [0; BROOD as usize];
        while left > 0 {
            worker.scope(|scope| {
                for number in numbers.iter_mut().take(left as usize) {
                    scope.spawn(move |_, _| *number += black_box(1));
                }
            });
            left = left.saturating_sub(BROOD);
        }
        assert_eq!(numbers.iter().sum::<u64>(), times);
    });
}

/// Calls `work` on a pool whose only thread is this one.
fn with_worker<R: Send>(work: impl FnOnce(&Worker) -> R + Send) -> R {
    let config = Config::default().threads(1).with_caller();
    let pool = Pool::start(config).expect("the thread is in no pool");
    pool.install(work)
}
