//! Pools of threads that run tasks: tasks that come from outside, and tasks that make tasks.
//!
//! Every pool has two threads, or as many as are asked for, and lives as long as its
//! scenario; it sleeps while another one has its turn.

mod blocking;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use filch_processors::{Config, Machines, Processors, Runner};
use rayon::ThreadPool;

use crate::clock::{cost, load};
use crate::harness::{Scenario, keeping};
use crate::pools::{AsyncLeaked, AsyncStatic, Executing, Handle, TOTAL, Tasks, Threads, Tokio};
use crate::total::sum_to;
use crate::work::workers;

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

/// A pool that runs numbers, as tasks that add them to the total.
trait Adds: Threads {
    fn add(&self, number: u64);
}

/// By closures, unless the queues hold numbers.
impl<T: Tasks> Adds for T {
    fn add(&self, number: u64) {
        self.spawn(move || TOTAL.add(number));
    }
}

/// A pool whose tasks spawn others.
trait Trees: Threads {
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

impl<T: Send + 'static> Threads for Filch<T>
where
    Run: Runner<T>,
{
    fn with_workers(workers: usize) -> Self {
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
            Task::Grow(depth) => branch(depth, |less| pool.schedule(Task::Grow(less))),
        }
    }
}

impl Adds for Filch<Task> {
    fn add(&self, number: u64) {
        self.pool.inject(Task::Add(number));
    }
}

impl Trees for Filch<Task> {
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

impl Tasks for Filch<Closure> {
    fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        self.pool.inject(Closure(Box::new(move |_: &_| task())));
    }
}

impl Trees for Filch<Closure> {
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

impl Trees for ThreadPool {
    fn grow(&self, depth: u32) {
        ThreadPool::spawn(self, move || {
            rayon::scope(|scope| grow_scoped(scope, depth));
        });
    }
}

fn grow_scoped(scope: &rayon::Scope<'_>, depth: u32) {
    branch(depth, |less| {
        scope.spawn(move |scope| grow_scoped(scope, less));
    });
}

impl Trees for Tokio {
    fn grow(&self, depth: u32) {
        drop(Tokio::spawn(self, async move { grow_tokio(depth) }));
    }
}

fn grow_tokio(depth: u32) {
    branch(depth, |less| {
        drop(tokio::spawn(async move { grow_tokio(less) }));
    });
}

impl<H: Handle> Trees for Executing<H> {
    fn grow(&self, depth: u32) {
        grow_async(&self.executor, depth);
    }
}

fn grow_async<H: Handle>(executor: &H, depth: u32) {
    let own = executor.clone();
    let task = async move { branch(depth, |less| grow_async(&own, less)) };
    executor.launch(task).detach();
}

type Plain = Filch<Task>;
type Boxed = Filch<Closure>;

/// The scenario in which all pools do the same.
macro_rules! pools {
    ($scenario:expr, $round:ident($($argument:expr),*)) => {
        $scenario
            .contender("filch-processors", $round::<Plain>($($argument),*))
            .contender("filch-processors, boxed", $round::<Boxed>($($argument),*))
            .contender("rayon", $round::<ThreadPool>($($argument),*))
            .contender("tokio", $round::<Tokio>($($argument),*))
            .contender("async-executor", $round::<AsyncLeaked>($($argument),*))
            .contender("async-executor, static", $round::<AsyncStatic>($($argument),*))
    };
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    let waves = 1;
    let trees = 8;
    let ticks = 62;
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
    scenarios.extend(blocking::scenarios());
    let per_tick = Scenario::new("a task per millisecond", "% of a core");
    let per_tick = per_tick.floor("the clock alone", ticking::<Caller>(ticks));
    scenarios.push(pools!(per_tick, ticking(ticks)));
    scenarios
}

fn inject<P: Adds>(waves: u64, wave: u64) -> impl FnMut() -> f64 {
    keeping(P::here, move |pool| {
        cost(waves * wave, || {
            for _ in 0..waves {
                TOTAL.expect(sum_to(wave));
                (1..=wave).for_each(|number| pool.add(number));
                TOTAL.wait();
            }
        })
    })
}

fn tree<P: Trees>(trees: u64, depth: u32) -> impl FnMut() -> f64 {
    keeping(P::here, move |pool| {
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

impl Threads for Caller {
    fn with_workers(_workers: usize) -> Self {
        Self
    }
}

impl Adds for Caller {
    fn add(&self, number: u64) {
        TOTAL.add(number);
    }
}

/// A new pool for each round: the other contenders' pools do not exist meanwhile, not even asleep.
fn ready<P: Adds>() -> P {
    let pool = P::here();
    TOTAL.expect(1);
    pool.add(1);
    TOTAL.wait();
    thread::sleep(GRACE);
    pool
}

/// The processor time of the whole process, in per cent of one core. The clock is `thread::sleep`,
/// which does not wait for the tasks.
fn ticking<P: Adds>(ticks: u64) -> impl FnMut() -> f64 {
    move || {
        let pool = ready::<P>();
        load(|| {
            TOTAL.expect(sum_to(ticks));
            for number in 1..=ticks {
                thread::sleep(TICK);
                pool.add(number);
            }
            TOTAL.wait();
        })
    }
}
