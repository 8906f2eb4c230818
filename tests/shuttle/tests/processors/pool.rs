//! A pool whose tasks are closures, and which of them have run.

use filch_processors::{Config, Processors, Runner};
use shuttle::sync::{Arc, Mutex, Weak};

/// Runs closures, each with the pool at hand.
pub(crate) struct Closures {
    pub(crate) pool: Weak<Processors<Task>>,
}

pub(crate) struct Task(Box<Body>);
type Body = dyn FnOnce(&Processors<Task>) + Send;

pub(crate) fn task(body: impl FnOnce(&Processors<Task>) + Send + 'static) -> Task {
    Task(Box::new(body))
}

impl Runner<Task> for Closures {
    type Scratch = ();

    fn scratch(&self, _: usize) {}

    fn run(&self, task: Task, (): &mut ()) {
        let pool = self.pool.upgrade().expect("the machines hold it");
        (task.0)(&pool);
    }
}

/// Starts a pool, lets `work` happen, stops it, and waits for its threads. Returns the pool.
pub(crate) fn with_pool(
    processors: usize,
    work: impl FnOnce(&Arc<Processors<Task>>),
) -> Arc<Processors<Task>> {
    let pool = Processors::new(Config::default().processors(processors)).unwrap();
    let runner = Arc::new(Closures {
        pool: Arc::downgrade(&pool),
    });
    let machines = Processors::start(&pool, runner).unwrap();
    work(&pool);
    pool.stop();
    machines.join();
    pool
}

/// Which of some numbered tasks have run.
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
