//! A pool whose tasks are closures, and how the tests start and stop it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use filch_processors::{Config, Machines, Processors, Runner};

pub(crate) type Pool = Processors<Job>;

/// A closure, which is told the pool that it runs in.
pub(crate) struct Job(Box<Work>);

type Work = dyn FnOnce(&Arc<Pool>) + Send;

pub(crate) fn job(work: impl FnOnce(&Arc<Pool>) + Send + 'static) -> Job {
    Job(Box::new(work))
}

/// Runs them.
pub(crate) struct Jobs;

impl Runner<Job> for Jobs {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn run(&self, Job(work): Job, pool: &Arc<Pool>, (): &mut ()) {
        work(pool);
    }
}

pub(crate) fn started(config: Config) -> (Arc<Pool>, Machines) {
    let pool = Pool::new(config).unwrap();
    let machines = Processors::start(&pool, Arc::new(Jobs)).unwrap();
    (pool, machines)
}

pub(crate) fn processors(count: usize) -> Config {
    Config::default().processors(count)
}

/// Stops any pool, and waits for its threads, all of which leave.
pub(crate) fn finish<T: Send + 'static>(pool: &Arc<Processors<T>>, machines: Machines) {
    pool.stop();
    machines.join();
    assert_eq!(pool.threads().threads, 0);
}

/// Work that takes so long, and lets other threads have the core.
pub(crate) fn takes(long: Duration) {
    let began = Instant::now();
    while began.elapsed() < long {
        std::thread::yield_now();
    }
}
