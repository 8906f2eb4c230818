//! Pools of threads that run tasks: tasks that come from outside, and tasks that make tasks.
//!
//! Every pool has two threads, or as many as a curve asks for, and lives as long as its
//! scenario; it sleeps while another one has its turn.

mod blocking;
mod executors;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use executors::{Async, Static};
use filch_processors::{Config, Machines, Processors, Runner};

use crate::clock::cost;
use crate::harness::{Effort, Scenario, keeping};
use crate::pools::{TOTAL, rayon_pool, tokio_runtime};
use crate::processor_time::load;
use crate::total::sum_to;
use crate::workers::workers;

/// Tasks that are injected before the caller waits for them: as many as caches hold, and more.
const WAVE: u64 = 100_000;
const LARGE_WAVE: u64 = 1_000_000;

/// Generations of tasks below the root of a tree, each twice as large as the one before.
const DEPTH: u32 = 14;
const LARGE_DEPTH: u32 = 20;

/// The time from task to task of a pool that has next to nothing to do.
const TICK: Duration = Duration::from_millis(1);

/// Long enough for spinners to go to sleep.
const GRACE: Duration = Duration::from_millis(20);

/// A pool, as the scenarios need it.
trait Pool: 'static {
    fn new() -> Self;
    /// A task that adds `number` to the total.
    fn spawn(&self, number: u64);
    /// A task that spawns two of depth `depth - 1`, which do the same; those of depth 0 add 1 to
    /// the total.
    fn grow(&self, depth: u32);
}

/// Does the work of a task of a tree, which calls `spawn` for each child.
fn branch(depth: u32, spawn: impl Fn(u32)) {
    match depth.checked_sub(1) {
        None => TOTAL.add(1),
        Some(less) => (0..2).for_each(|_| spawn(less)),
    }
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
    fn start() -> Self {
        let config = Config::default().processors(workers());
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
            Task::Grow(depth) => branch(depth, |less| pool.schedule(Task::Grow(less))),
        }
    }
}

impl Pool for Filch<Task> {
    fn new() -> Self {
        Self::start()
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
    fn new() -> Self {
        Self::start()
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
    branch(depth, |less| {
        let work = move |pool: &_| grow_boxed(pool, less);
        pool.schedule(Closure(Box::new(work)));
    });
}

impl Pool for rayon::ThreadPool {
    fn new() -> Self {
        rayon_pool(workers())
    }

    fn spawn(&self, number: u64) {
        self.spawn(move || TOTAL.add(number));
    }

    fn grow(&self, depth: u32) {
        self.spawn(move || rayon::scope(|scope| grow_scoped(scope, depth)));
    }
}

fn grow_scoped(scope: &rayon::Scope<'_>, depth: u32) {
    branch(depth, |less| {
        scope.spawn(move |scope| grow_scoped(scope, less));
    });
}

impl Pool for tokio::runtime::Runtime {
    fn new() -> Self {
        tokio_runtime(workers())
    }

    fn spawn(&self, number: u64) {
        drop(self.spawn(async move { TOTAL.add(number) }));
    }

    fn grow(&self, depth: u32) {
        drop(self.spawn(async move { grow_tokio(depth) }));
    }
}

fn grow_tokio(depth: u32) {
    branch(depth, |less| {
        drop(tokio::spawn(async move { grow_tokio(less) }));
    });
}

type Plain = Filch<Task>;
type Boxed = Filch<Closure>;
type Rayon = rayon::ThreadPool;
type Tokio = tokio::runtime::Runtime;

/// The scenario in which all pools do the same.
macro_rules! pools {
    ($scenario:expr, $round:ident($($argument:expr),*)) => {
        $scenario
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
    // About a second each in a full run: sleeps last longer than they are told to.
    let (second, ticks) = (effort.operations(1_000), effort.operations(500));
    let injecting = |name, waves, wave| {
        let scenario = Scenario::of_workers(name, workers(), "ns per task");
        pools!(scenario, inject(waves, wave))
            .outside(&format!("spawn {waves} {wave}"), waves * wave)
    };
    let growing = |name, trees, depth| {
        let scenario = Scenario::of_workers(name, workers(), "ns per leaf");
        pools!(scenario, tree(trees, depth))
            .outside(&format!("tree {trees} {depth}"), trees << depth)
    };
    let mut scenarios = vec![
        injecting("inject 100k, wait for all", waves, WAVE),
        injecting("inject 1M, wait for all", 1, LARGE_WAVE),
        growing("tree of 2^14 leaves", trees, DEPTH),
        growing("tree of 2^20 leaves", 1, LARGE_DEPTH),
    ];
    scenarios.extend(blocking::scenarios(effort));
    scenarios.extend([
        Scenario::new("an idle pool", "% of a core")
            .contender("filch-processors", idle::<Plain>(second))
            .contender("rayon", idle::<Rayon>(second))
            .contender("tokio", idle::<Tokio>(second))
            .contender("async-executor", idle::<Async>(second)),
        Scenario::new("a task per millisecond", "% of a core")
            .floor("the clock alone", ticking::<Caller>(ticks))
            .contender("filch-processors", ticking::<Plain>(ticks))
            .contender("filch-processors, boxed", ticking::<Boxed>(ticks))
            .contender("rayon", ticking::<Rayon>(ticks))
            .contender("tokio", ticking::<Tokio>(ticks))
            .contender("async-executor", ticking::<Async>(ticks)),
    ]);
    scenarios
}

fn inject<P: Pool>(waves: u64, wave: u64) -> impl FnMut() -> f64 {
    keeping(P::new, move |pool| {
        cost(waves * wave, || {
            for _ in 0..waves {
                TOTAL.expect(sum_to(wave));
                (1..=wave).for_each(|number| pool.spawn(number));
                TOTAL.wait();
            }
        })
    })
}

fn tree<P: Pool>(trees: u64, depth: u32) -> impl FnMut() -> f64 {
    keeping(P::new, move |pool| {
        cost(trees << depth, || {
            for _ in 0..trees {
                TOTAL.expect(1 << depth);
                pool.grow(depth);
                TOTAL.wait();
            }
        })
    })
}

/// The caller runs the task.
struct Caller;

impl Pool for Caller {
    fn new() -> Self {
        Self
    }

    fn spawn(&self, number: u64) {
        TOTAL.add(number);
    }

    fn grow(&self, _depth: u32) {}
}

/// A new pool for each round: the other contenders' pools do not exist meanwhile, not even asleep.
fn ready<P: Pool>() -> P {
    let pool = P::new();
    TOTAL.expect(1);
    pool.spawn(1);
    TOTAL.wait();
    thread::sleep(GRACE);
    pool
}

/// The processor time of the whole process, in per cent of one core.
fn idle<P: Pool>(milliseconds: u64) -> impl FnMut() -> f64 {
    move || {
        let _pool = ready::<P>();
        load(|| thread::sleep(Duration::from_millis(milliseconds)))
    }
}

/// The same. The clock is `thread::sleep`, which does not wait for the tasks.
fn ticking<P: Pool>(ticks: u64) -> impl FnMut() -> f64 {
    move || {
        let pool = ready::<P>();
        load(|| {
            TOTAL.expect(sum_to(ticks));
            for number in 1..=ticks {
                thread::sleep(TICK);
                pool.spawn(number);
            }
            TOTAL.wait();
        })
    }
}
