//! A pool whose tasks are closures, with a record of those that have run.

use std::ops::Range;

use filch_processors::{Config, Processors, Runner};
use shuttle::sync::{Arc, Barrier, Mutex};
use shuttle::thread;
use shuttle_tests::explore;

/// Runs closures, each with the pool at hand.
pub(crate) struct Closures;

pub(crate) struct Task(Box<Body>);
type Body = dyn FnOnce(&Processors<Task>) + Send;

pub(crate) fn task(body: impl FnOnce(&Processors<Task>) + Send + 'static) -> Task {
    Task(Box::new(body))
}

impl Task {
    pub(crate) fn run(self, pool: &Processors<Self>) {
        (self.0)(pool);
    }
}

impl Runner<Task> for Closures {
    type Scratch = ();

    fn scratch(&self, _: usize) {}

    fn run(&self, task: Task, pool: &Arc<Processors<Task>>, (): &mut ()) {
        task.run(pool);
    }
}

/// Starts a pool, lets `work` happen, stops it, and waits for its threads. Returns the pool.
pub(crate) fn with_pool(
    processors: usize,
    work: impl FnOnce(&Arc<Processors<Task>>),
) -> Arc<Processors<Task>> {
    let pool = Processors::new(Config::default().processors(processors)).unwrap();
    let machines = Processors::start(&pool, Arc::new(Closures)).unwrap();
    work(&pool);
    pool.stop();
    machines.join();
    pool
}

/// A record of numbered tasks that have run.
#[derive(Clone)]
pub(crate) struct Ran(Arc<Mutex<Vec<usize>>>);

impl Ran {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Vec::new())))
    }

    pub(crate) fn note(&self, number: usize) {
        self.0.lock().unwrap().push(number);
    }

    pub(crate) fn assert_each_once(&self, count: usize) {
        let mut all = self.0.lock().unwrap().clone();
        all.sort_unstable();
        assert!(
            all.iter().copied().eq(0..count),
            "not every task exactly once: {all:?}"
        );
    }
}

/// The way in which a task is made runnable.
pub(crate) type MakeRunnable = fn(&Processors<Task>, Task);

/// Two threads make tasks runnable, and the pool is stopped as soon as they have. Each must run
/// once.
pub(crate) fn all_run_before_the_stop(name: &str, processors: usize, make_runnable: MakeRunnable) {
    explore(name, 3_000, move || {
        let ran = Ran::new();
        with_pool(processors, |pool| {
            let bring = |numbers: Range<usize>| {
                let (pool, ran) = (Arc::clone(pool), ran.clone());
                thread::spawn(move || {
                    for number in numbers {
                        let ran = ran.clone();
                        make_runnable(&pool, task(move |_| ran.note(number)));
                    }
                })
            };
            let (first, second) = (bring(0..2), bring(2..4));
            first.join().unwrap();
            second.join().unwrap();
        });
        ran.assert_each_once(4);
    });
}

/// As many tasks as processors, each of which ends only when all have begun, made runnable while
/// the machines start, search or sleep; twice, so that the second round meets sleepers.
pub(crate) fn all_meet(name: &str, parties: usize, make_runnable: MakeRunnable) {
    explore(name, 2_000, move || {
        with_pool(parties, |pool| {
            for _ in 0..2 {
                let meeting = Arc::new(Barrier::new(parties + 1));
                for _ in 0..parties {
                    let meeting = Arc::clone(&meeting);
                    let comes = task(move |_| {
                        meeting.wait();
                    });
                    make_runnable(pool, comes);
                }
                meeting.wait();
            }
        });
    });
}
