//! A pool of processors without a scheduler: resizes, limits of threads, and tasks that panic.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use filch_processors::{
    BoundId, BoundThread, Config, Processors, ReserveError, ResizeError, Runner,
};

use crate::account::count::{Count, Flag};
use crate::account::findings::{begin_stage, complain, progress};
use crate::account::happening::{Happening, note, note_many};
use crate::account::token::{Kind, Token, alive};
use crate::machine::{system, watchdog};
use crate::plan::phase::PoolPlan;
use crate::random::Random;
use crate::stage::end::wait_for_threads;
use crate::stage::rest::settle;

/// A task of a pool.
struct Task {
    seed: u64,
    /// The most tasks that may come of it, one after the other.
    energy: u8,
    bound_to: Option<BoundId>,
    _token: Token,
}

impl Task {
    fn new(accounts: &Accounts, seed: u64, energy: u8, bound_to: Option<BoundId>) -> Self {
        accounts.made.add(1);
        Self {
            seed,
            energy,
            bound_to,
            _token: Token::new(Kind::Task),
        }
    }
}

/// The counts of one pool's tasks.
#[derive(Default)]
struct Accounts {
    made: Count,
    run: Count,
    panicked: Count,
    blocked: Count,
    stopping: Flag,
}

/// Runs the tasks.
struct Pool {
    plan: PoolPlan,
    accounts: Arc<Accounts>,
}

impl Runner<Task> for Pool {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn bound_to(&self, task: &Task) -> Option<BoundId> {
        task.bound_to
    }

    fn run(&self, task: Task, pool: &Arc<Processors<Task>>, (): &mut ()) {
        self.accounts.run.add(1);
        let mut random = Random::new(task.seed);
        for _ in 0..random.within(1, 2) {
            if task.energy > 0 {
                self.follow_up(pool, &mut random, &task);
            }
        }
        match random.below(60) {
            0..=7 => {
                self.accounts.blocked.add(1);
                let pause = Duration::from_micros(random.below(80));
                pool.blocking(|| thread::park_timeout(pause));
            }
            8 => resize(pool, &self.plan, &self.accounts, &mut random),
            9 | 10 if self.plan.panics => {
                self.accounts.panicked.add(1);
                panic!("soak: a task");
            }
            11 if self.plan.panics => {
                self.accounts.blocked.add(1);
                self.accounts.panicked.add(1);
                pool.blocking(|| panic!("soak: a blocking call"));
            }
            12 => thread::yield_now(),
            _ => {}
        }
    }
}

impl Pool {
    fn follow_up(&self, pool: &Processors<Task>, random: &mut Random, task: &Task) {
        let (energy, seed) = (task.energy - 1, random.fork());
        let next = Task::new(&self.accounts, seed, energy, task.bound_to);
        match random.below(4) {
            0 => pool.inject(next),
            1 => pool.schedule_idle(next),
            _ => pool.schedule(next),
        }
    }
}

fn resize(pool: &Processors<Task>, plan: &PoolPlan, accounts: &Accounts, random: &mut Random) {
    let count = random.within(1, plan.max_processors as u64) as usize;
    match pool.resize(count) {
        Ok(_) => note(Happening::PoolResized),
        // The limit of threads is that narrow.
        Err(ResizeError::Threads { .. }) => {}
        Err(ResizeError::Stopped) if accounts.stopping.is_up() => {}
        Err(error) => complain(format!("a pool cannot be resized to {count}: {error}")),
    }
}

/// Carries out such a phase.
pub(crate) fn run(plan: &PoolPlan) {
    let threads = system::threads();
    let config = Config::default()
        .processors(plan.processors)
        .max_processors(plan.max_processors)
        .thread_limit(plan.thread_limit)
        .spare_threads(plan.spare_threads)
        .watch_interval(plan.watch_interval);
    let pool = match Processors::new(config) {
        Ok(pool) => pool,
        Err(error) => return complain(format!("no pool: {error}")),
    };
    let accounts = Arc::new(Accounts::default());
    let runner = Pool {
        plan: *plan,
        accounts: Arc::clone(&accounts),
    };
    let machines = match Processors::start(&pool, Arc::new(runner)) {
        Ok(machines) => machines,
        Err(error) => return complain(format!("a pool does not start: {error}")),
    };
    watchdog::show({
        let pool = Arc::clone(&pool);
        move || pool.dump().to_string()
    });
    begin_stage("burst");
    thread::scope(|scope| {
        for index in 0..plan.injectors {
            let (pool, accounts) = (&pool, &accounts);
            scope.spawn(move || inject(pool, plan, accounts, index));
        }
        if plan.stops_in_the_midst {
            let mut random = Random::new(plan.seed);
            thread::park_timeout(Duration::from_micros(random.below(3000)));
            accounts.stopping.raise();
            pool.stop();
        }
    });
    if !plan.stops_in_the_midst {
        begin_stage("coming to rest");
        if pool.wait_quiescent().is_err() {
            complain("a pool was over that nobody had stopped");
        }
        check(&pool, &accounts);
    }
    begin_stage("end");
    accounts.stopping.raise();
    pool.stop();
    machines.join();
    note(Happening::PoolStopped);
    count(&accounts);
    watchdog::show_nothing();
    drop(pool);
    settle("waiting for the last values", || {
        let alive = alive();
        (!alive.is_empty()).then(|| format!("tasks were not dropped: {alive:?}"))
    });
    wait_for_threads(threads);
}

/// Injects the tasks of one outside thread.
fn inject(pool: &Arc<Processors<Task>>, plan: &PoolPlan, accounts: &Arc<Accounts>, index: u32) {
    let mut random = Random::new(plan.seed ^ u64::from(index + 1));
    let mut bound: Vec<BoundThread<Task>> = Vec::new();
    for number in 0..plan.tasks {
        if random.below(u64::from(plan.tasks)) < u64::from(plan.resizes) {
            resize(pool, plan, accounts, &mut random);
        }
        if number < plan.bound_threads {
            match Processors::reserve_thread(pool) {
                Ok(thread) => bound.push(thread),
                Err(ReserveError::Stopped) if accounts.stopping.is_up() => {}
                Err(error) => complain(format!("a pool reserves no thread: {error}")),
            }
        }
        let to = random.next().checked_rem(2 * bound.len() as u64);
        let id = to
            .and_then(|place| bound.get(place as usize))
            .map(BoundThread::id);
        let (seed, energy) = (random.fork(), random.below(5) as u8);
        let task = Task::new(accounts, seed, energy, id);
        match random.below(8) {
            0 => pool.schedule_idle(task),
            1 => pool.schedule(task),
            _ => pool.inject(task),
        }
        match random.below(400) {
            0 => thread::park_timeout(Duration::from_micros(random.below(500))),
            1 => drop(bound.pop()),
            2 => drop(pool.dump().to_string()),
            3 => drop(pool.wait_quiescent()),
            _ => {}
        }
        progress();
    }
}

/// Checks, at quiescence, that all has run, and that the statistics agree.
fn check(pool: &Processors<Task>, accounts: &Accounts) {
    let (made, run) = (accounts.made.get(), accounts.run.get());
    if made != run {
        complain(format!(
            "a pool is quiescent, and {run} of {made} tasks have run"
        ));
    }
    let stats = pool.stats();
    let sum = |of: fn(&filch_processors::ProcessorStats) -> u64| stats.iter().map(of).sum::<u64>();
    let sums = [
        ("tasks", sum(|one| one.run), run),
        ("panics", sum(|one| one.panicked), accounts.panicked.get()),
        (
            "blocking calls",
            sum(|one| one.blocking_calls),
            accounts.blocked.get(),
        ),
    ];
    for (name, said, counted) in sums {
        if said != counted as u64 {
            complain(format!(
                "a pool's statistics say {said} {name}: there were {counted}"
            ));
        }
    }
}

fn count(accounts: &Accounts) {
    let (made, run) = (accounts.made.get(), accounts.run.get());
    if run > made {
        complain(format!("{run} tasks ran, of {made}"));
    }
    note_many(Happening::PoolTasks, run);
    note_many(Happening::PoolPanics, accounts.panicked.get());
    note_many(Happening::PoolBlocked, accounts.blocked.get());
}
