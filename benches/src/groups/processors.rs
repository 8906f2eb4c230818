//! Pools of threads that run tasks: tasks that come from outside, and tasks that make tasks.
//!
//! Every pool has [`WORKERS`] threads and lives as long as its scenario; while another one has its turn it sleeps.

use std::cell::LazyCell;
use std::sync::Arc;

use async_executor::Executor;
use filch_processors::{Config, Machines, Processors, Runner};

use crate::harness::{Effort, Scenario, per_operation, time};
use crate::rivals::{ExecutorThreads, WORKERS, rayon_pool, tokio_runtime};
use crate::total::{Total, sum_to};

/// Tasks that are injected before anybody waits for them.
const WAVE: u64 = 100_000;

/// Tasks between the root of a tree and its leaves, the leaf counted.
const DEPTH: u32 = 14;

/// What tasks add to. One for all pools: a pool does nothing while it is not its turn.
static TOTAL: Total = Total::new();

/// What the scenarios need from a pool.
trait Pool: 'static {
    fn new() -> Self;
    /// A task that adds `number` to the total.
    fn spawn(&self, number: u64);
    /// A task that makes two of one less `depth`, which do the same; those of depth 0 add 1 to the total.
    fn grow(&self, depth: u32);
}

/// Tasks of our own type, as in a scheduler: a queue holds the task itself.
struct Plain {
    pool: Arc<Processors<Task>>,
    machines: Option<Machines>,
}

enum Task {
    Add(u64),
    Grow(u32),
}

struct RunPlain {
    pool: Arc<Processors<Task>>,
}

impl Runner<Task> for RunPlain {
    type Scratch = ();

    fn scratch(&self, _processor: usize) {}

    fn run(&self, task: Task, (): &mut ()) {
        match task {
            Task::Add(number) => TOTAL.add(number),
            Task::Grow(0) => TOTAL.add(1),
            Task::Grow(depth) => {
                self.pool.schedule(Task::Grow(depth - 1));
                self.pool.schedule(Task::Grow(depth - 1));
            }
        }
    }
}

impl Pool for Plain {
    fn new() -> Self {
        let (pool, machines) = start(|pool| RunPlain { pool });
        Self {
            pool,
            machines: Some(machines),
        }
    }

    fn spawn(&self, number: u64) {
        self.pool.inject(Task::Add(number));
    }

    fn grow(&self, depth: u32) {
        self.pool.inject(Task::Grow(depth));
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        stop(&self.pool, &mut self.machines);
    }
}

/// Tasks that are boxed closures, as the rivals' are: an allocation for each.
struct Boxed {
    pool: Arc<Processors<Closure>>,
    machines: Option<Machines>,
}

struct Closure(Box<dyn FnOnce(&Processors<Closure>) + Send>);

struct RunBoxed {
    pool: Arc<Processors<Closure>>,
}

impl Runner<Closure> for RunBoxed {
    type Scratch = ();

    fn scratch(&self, _processor: usize) {}

    fn run(&self, Closure(task): Closure, (): &mut ()) {
        task(&self.pool);
    }
}

impl Pool for Boxed {
    fn new() -> Self {
        let (pool, machines) = start(|pool| RunBoxed { pool });
        Self {
            pool,
            machines: Some(machines),
        }
    }

    fn spawn(&self, number: u64) {
        let task = move |_: &_| TOTAL.add(number);
        self.pool.inject(Closure(Box::new(task)));
    }

    fn grow(&self, depth: u32) {
        let task = move |pool: &_| grow_boxed(pool, depth);
        self.pool.inject(Closure(Box::new(task)));
    }
}

impl Drop for Boxed {
    fn drop(&mut self) {
        stop(&self.pool, &mut self.machines);
    }
}

fn grow_boxed(pool: &Processors<Closure>, depth: u32) {
    match depth.checked_sub(1) {
        None => TOTAL.add(1),
        Some(less) => {
            for _ in 0..2 {
                let task = move |pool: &_| grow_boxed(pool, less);
                pool.schedule(Closure(Box::new(task)));
            }
        }
    }
}

fn start<T, R>(runner: impl FnOnce(Arc<Processors<T>>) -> R) -> (Arc<Processors<T>>, Machines)
where
    T: Send + 'static,
    R: Runner<T>,
{
    let pool = Processors::new(Config::default().processors(WORKERS)).expect("a few are possible");
    let runner = Arc::new(runner(Arc::clone(&pool)));
    let machines = Processors::start(&pool, runner).expect("the system gives threads");
    (pool, machines)
}

fn stop<T: Send + 'static>(pool: &Processors<T>, machines: &mut Option<Machines>) {
    pool.stop();
    if let Some(machines) = machines.take() {
        machines.join();
    }
}

impl Pool for rayon::ThreadPool {
    fn new() -> Self {
        rayon_pool()
    }

    fn spawn(&self, number: u64) {
        self.spawn(move || TOTAL.add(number));
    }

    fn grow(&self, depth: u32) {
        self.spawn(move || rayon::scope(|scope| grow_scoped(scope, depth)));
    }
}

fn grow_scoped(scope: &rayon::Scope<'_>, depth: u32) {
    match depth.checked_sub(1) {
        None => TOTAL.add(1),
        Some(less) => {
            for _ in 0..2 {
                scope.spawn(move |scope| grow_scoped(scope, less));
            }
        }
    }
}

impl Pool for tokio::runtime::Runtime {
    fn new() -> Self {
        tokio_runtime()
    }

    fn spawn(&self, number: u64) {
        drop(self.spawn(async move { TOTAL.add(number) }));
    }

    fn grow(&self, depth: u32) {
        drop(self.spawn(async move { grow_tokio(depth) }));
    }
}

fn grow_tokio(depth: u32) {
    match depth.checked_sub(1) {
        None => TOTAL.add(1),
        Some(less) => {
            for _ in 0..2 {
                drop(tokio::spawn(async move { grow_tokio(less) }));
            }
        }
    }
}

/// Static, so that its tasks can spawn without a count of references.
static EXECUTOR: Executor<'static> = Executor::new();

struct Async {
    _threads: ExecutorThreads,
}

impl Pool for Async {
    fn new() -> Self {
        Self {
            _threads: ExecutorThreads::start(&&EXECUTOR),
        }
    }

    fn spawn(&self, number: u64) {
        EXECUTOR.spawn(async move { TOTAL.add(number) }).detach();
    }

    fn grow(&self, depth: u32) {
        EXECUTOR.spawn(async move { grow_async(depth) }).detach();
    }
}

fn grow_async(depth: u32) {
    match depth.checked_sub(1) {
        None => TOTAL.add(1),
        Some(less) => {
            for _ in 0..2 {
                EXECUTOR.spawn(async move { grow_async(less) }).detach();
            }
        }
    }
}

type Rayon = rayon::ThreadPool;
type Tokio = tokio::runtime::Runtime;

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let waves = effort.operations(8);
    let trees = effort.operations(64);
    vec![
        Scenario::new("inject 100k, wait for all", "ns per task")
            .contender("filch-processors", inject::<Plain>(waves))
            .contender("filch-processors, boxed", inject::<Boxed>(waves))
            .contender("rayon", inject::<Rayon>(waves))
            .contender("tokio", inject::<Tokio>(waves))
            .contender("async-executor", inject::<Async>(waves)),
        Scenario::new("tree of 2^14 leaves", "ns per leaf")
            .contender("filch-processors", tree::<Plain>(trees))
            .contender("filch-processors, boxed", tree::<Boxed>(trees))
            .contender("rayon", tree::<Rayon>(trees))
            .contender("tokio", tree::<Tokio>(trees))
            .contender("async-executor", tree::<Async>(trees)),
    ]
}

fn inject<P: Pool>(waves: u64) -> impl FnMut() -> f64 {
    let pool = LazyCell::new(P::new);
    move || {
        let pool = &*pool;
        let elapsed = time(|| {
            for _ in 0..waves {
                TOTAL.expect(sum_to(WAVE));
                for number in 1..=WAVE {
                    pool.spawn(number);
                }
                TOTAL.wait();
            }
        });
        per_operation(elapsed, waves * WAVE)
    }
}

fn tree<P: Pool>(trees: u64) -> impl FnMut() -> f64 {
    let pool = LazyCell::new(P::new);
    move || {
        let pool = &*pool;
        let elapsed = time(|| {
            for _ in 0..trees {
                TOTAL.expect(1 << DEPTH);
                pool.grow(DEPTH);
                TOTAL.wait();
            }
        });
        per_operation(elapsed, trees << DEPTH)
    }
}
