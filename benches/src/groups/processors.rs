//! Pools of threads that run tasks: tasks that come from outside, and tasks that make tasks.
//!
//! Every pool has [`WORKERS`] threads, or as many as a curve asks for, and lives as long as its
//! scenario; it sleeps while another one has its turn.

mod blocking;
mod executors;
mod idle;

use std::cell::LazyCell;
use std::sync::Arc;

use executors::{Async, Static};
use filch_processors::{Config, Machines, Processors, Runner};

use crate::harness::{Effort, Scenario, per_operation, time};
use crate::rivals::{WORKERS, rayon_pool_of, tokio_runtime_of};
use crate::total::{Total, sum_to};

/// Tasks that are injected before the caller waits for them: as many as caches hold, and more.
const WAVE: u64 = 100_000;
const LARGE_WAVE: u64 = 1_000_000;

/// Generations of tasks below the root of a tree, each twice as large as the one before.
const DEPTH: u32 = 14;
const LARGE_DEPTH: u32 = 20;

/// The sum that tasks add to. One for all pools: only one has its turn.
static TOTAL: Total = Total::new();

/// What the scenarios need from a pool.
trait Pool: 'static {
    fn new(workers: usize) -> Self;
    /// A task that adds `number` to the total.
    fn spawn(&self, number: u64);
    /// A task that spawns two of depth `depth - 1`, which do the same; those of depth 0 add 1 to
    /// the total.
    fn grow(&self, depth: u32);
}

/// filch's pool, for tasks of type `T`.
struct Filch<T: Send + 'static> {
    pool: Arc<Processors<T>>,
    machines: Option<Machines>,
}

/// Runs a task of filch's pool.
struct Run;

impl<T: Send + 'static> Filch<T>
where
    Run: Runner<T>,
{
    fn start(workers: usize) -> Self {
        let config = Config::default().processors(workers);
        let pool = Processors::new(config).expect("a few are possible");
        let machines = Processors::start(&pool, Arc::new(Run)).expect("the system gives threads");
        Self {
            pool,
            machines: Some(machines),
        }
    }
}

impl<T: Send + 'static> Drop for Filch<T> {
    fn drop(&mut self) {
        self.pool.stop();
        if let Some(machines) = self.machines.take() {
            machines.join();
        }
    }
}

/// A task of a plain type, as a scheduler has: the queues hold the task itself.
enum Task {
    Add(u64),
    Grow(u32),
}

impl Runner<Task> for Run {
    type Scratch = ();

    fn scratch(&self, _processor: usize) {}

    fn run(&self, task: Task, pool: &Arc<Processors<Task>>, (): &mut ()) {
        match task {
            Task::Add(number) => TOTAL.add(number),
            Task::Grow(0) => TOTAL.add(1),
            Task::Grow(depth) => {
                for _ in 0..2 {
                    pool.schedule(Task::Grow(depth - 1));
                }
            }
        }
    }
}

impl Pool for Filch<Task> {
    fn new(workers: usize) -> Self {
        Self::start(workers)
    }

    fn spawn(&self, number: u64) {
        self.pool.inject(Task::Add(number));
    }

    fn grow(&self, depth: u32) {
        self.pool.inject(Task::Grow(depth));
    }
}

/// A boxed closure, as the rivals' tasks are: an allocation for each.
struct Closure(Box<Work>);

type Work = dyn FnOnce(&Processors<Closure>) + Send;

impl Runner<Closure> for Run {
    type Scratch = ();

    fn scratch(&self, _processor: usize) {}

    fn run(&self, task: Closure, pool: &Arc<Processors<Closure>>, (): &mut ()) {
        (task.0)(pool);
    }
}

impl Pool for Filch<Closure> {
    fn new(workers: usize) -> Self {
        Self::start(workers)
    }

    fn spawn(&self, number: u64) {
        let work = move |_: &_| TOTAL.add(number);
        self.pool.inject(Closure(Box::new(work)));
    }

    fn grow(&self, depth: u32) {
        let work = move |pool: &_| grow_boxed(pool, depth);
        self.pool.inject(Closure(Box::new(work)));
    }
}

fn grow_boxed(pool: &Processors<Closure>, depth: u32) {
    match depth.checked_sub(1) {
        None => TOTAL.add(1),
        Some(less) => {
            for _ in 0..2 {
                let work = move |pool: &_| grow_boxed(pool, less);
                pool.schedule(Closure(Box::new(work)));
            }
        }
    }
}

impl Pool for rayon::ThreadPool {
    fn new(workers: usize) -> Self {
        rayon_pool_of(workers)
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
    fn new(workers: usize) -> Self {
        tokio_runtime_of(workers)
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

type Plain = Filch<Task>;
type Boxed = Filch<Closure>;
type Rayon = rayon::ThreadPool;
type Tokio = tokio::runtime::Runtime;

/// The scenario in which all pools do the same.
macro_rules! pools {
    ($name:expr, $unit:literal, $round:ident($($argument:expr),*)) => {
        Scenario::new($name, $unit)
            .contender("filch-processors", $round::<Plain>($($argument),*))
            .contender("filch-processors, boxed", $round::<Boxed>($($argument),*))
            .contender("rayon", $round::<Rayon>($($argument),*))
            .contender("tokio", $round::<Tokio>($($argument),*))
            .contender("async-executor", $round::<Async>($($argument),*))
            .contender("async-executor, static", $round::<Static>($($argument),*))
    };
}

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let waves = effort.operations(8);
    let trees = effort.operations(64);
    let mut scenarios = vec![
        inject("inject 100k, wait for all", WORKERS, waves, WAVE)
            .outside(&format!("spawn {waves} {WAVE}"), waves * WAVE),
        inject("inject 1M, wait for all", WORKERS, 1, LARGE_WAVE)
            .outside(&format!("spawn 1 {LARGE_WAVE}"), LARGE_WAVE),
        tree("tree of 2^14 leaves", WORKERS, trees, DEPTH)
            .outside(&format!("tree {trees} {DEPTH}"), trees << DEPTH),
        tree("tree of 2^20 leaves", WORKERS, 1, LARGE_DEPTH)
            .outside(&format!("tree 1 {LARGE_DEPTH}"), 1 << LARGE_DEPTH),
    ];
    scenarios.extend(blocking::scenarios(effort));
    scenarios.extend(idle::scenarios(effort));
    scenarios
}

/// The large scenarios, with `workers` workers, and the name of the curve that each belongs to.
pub(crate) fn curve(workers: usize) -> [(&'static str, Scenario); 2] {
    let name = |kind| format!("{kind}, workers: {workers}");
    let (wave, leaves) = ("inject 1M", "tree of 2^20 leaves");
    [
        (wave, inject(name(wave), workers, 1, LARGE_WAVE)),
        (leaves, tree(name(leaves), workers, 1, LARGE_DEPTH)),
    ]
}

fn inject(name: impl Into<String>, workers: usize, waves: u64, wave: u64) -> Scenario {
    fn round<P: Pool>(workers: usize, waves: u64, wave: u64) -> impl FnMut() -> f64 {
        let pool = LazyCell::new(move || P::new(workers));
        move || {
            let pool = &*pool;
            let elapsed = time(|| {
                for _ in 0..waves {
                    TOTAL.expect(sum_to(wave));
                    for number in 1..=wave {
                        pool.spawn(number);
                    }
                    TOTAL.wait();
                }
            });
            per_operation(elapsed, waves * wave)
        }
    }

    pools!(name, "ns per task", round(workers, waves, wave))
}

fn tree(name: impl Into<String>, workers: usize, trees: u64, depth: u32) -> Scenario {
    fn round<P: Pool>(workers: usize, trees: u64, depth: u32) -> impl FnMut() -> f64 {
        let pool = LazyCell::new(move || P::new(workers));
        move || {
            let pool = &*pool;
            let elapsed = time(|| {
                for _ in 0..trees {
                    TOTAL.expect(1 << depth);
                    pool.grow(depth);
                    TOTAL.wait();
                }
            });
            per_operation(elapsed, trees << depth)
        }
    }

    pools!(name, "ns per leaf", round(workers, trees, depth))
}
