//! Whole fork/join pools: a job waits for others that are in the deque of its own thread, while
//! other threads fall asleep.
//!
//! `join` promises no parallelism. But no thread sleeps beside a job that is in a deque, whatever
//! the owner of that deque does: so as many jobs as there are threads run at a time. Each test here
//! ends only if that holds. A hidden job or a lost wake-up is a deadlock.

mod meetings;
mod pipelines;
mod scopes;
mod waits;

use filch_fork_join::{Config, Pool, Worker};
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;
use shuttle_tests::explore;

/// Explores a test of pools of 3, 5 and 8 threads: the larger, the fewer schedules.
fn explore_sizes(claim: &str, test: fn(usize)) {
    for (threads, schedules) in [(3, 700), (5, 300), (8, 150)] {
        let claim = format!("{claim}: {threads} threads");
        explore(&claim, schedules, move || test(threads));
    }
}

/// Runs `work` on a thread of a pool of that size, and lets the pool end.
fn on_pool<R: Send>(threads: usize, work: impl FnOnce(&Worker) -> R + Send) -> R {
    on_pool_as(Config::default().threads(threads), work)
}

fn on_pool_as<R: Send>(config: Config, work: impl FnOnce(&Worker) -> R + Send) -> R {
    let pool = Pool::start(config).unwrap();
    let result = pool.install(work);
    pool.finish();
    result
}

/// Lets others run for a while: they look for jobs in vain, some until they sleep. Half of the
/// pauses are short.
fn pause() {
    let yields = 1_usize << thread_rng().gen_range(0..11);
    (0..yields).for_each(|_| thread::yield_now());
}

/// Forks and joins, at most `most` times: usually so often that nobody steals, and the deque
/// becomes its owner's.
fn fork_small_jobs(worker: &Worker, most: usize) {
    for _ in 0..thread_rng().gen_range(0..=most) {
        worker.join(|_| (), |_| ());
    }
}

/// Counts those that have arrived, and lets others wait for them.
#[derive(Default)]
struct Arrivals {
    count: Mutex<usize>,
    one_more: Condvar,
}

impl Arrivals {
    fn arrive(&self) {
        *self.count.lock().unwrap() += 1;
        self.one_more.notify_all();
    }

    /// Sleeps until so many have arrived.
    fn wait_for(&self, count: usize) {
        let arrived = self.count.lock().unwrap();
        let arrived = self
            .one_more
            .wait_while(arrived, |arrived| *arrived < count);
        drop(arrived.unwrap());
    }

    /// Arrives, and waits for the others.
    fn meet(&self, parties: usize) {
        self.arrive();
        self.wait_for(parties);
    }
}
