//! The cost of blocking calls to tasks that do not block, and of waking a sleeping pool for a task.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use filch_processors::Processors;
use rayon::ThreadPool;
use tokio::runtime::Handle;

use super::{Boxed, Closure};
use crate::clock::{per_operation, time};
use crate::harness::{Scenario, keeping};
use crate::pools::{TOTAL, Tasks, Threads, Tokio};
use crate::total::sum_to;
use crate::work::Work;

/// Blocking calls under way at a time.
const CALLS: usize = 100;

/// Tasks that only compute, per wave.
const TASKS: u64 = 100_000;

/// The time that each of the calls blocks; then its task makes the next one.
const CALL: Duration = Duration::from_millis(10);

pub(super) fn scenarios() -> [Scenario; 3] {
    let waves = 1;
    let tasks = move |_| waves * TASKS;
    let calls = |made: u64| made.max(1);
    [
        Scenario::new("CPU tasks beside 100 blocking calls", "ns per task")
            .contender(
                "filch-processors, undisturbed",
                beside::<Boxed>(waves, false, tasks),
            )
            .contender(
                "filch-processors, 10 ms each",
                beside::<Boxed>(waves, true, tasks),
            )
            .contender("tokio, undisturbed", beside::<Tokio>(waves, false, tasks))
            .contender("tokio, 10 ms each", beside::<Tokio>(waves, true, tasks)),
        Scenario::new("blocking calls made beside CPU tasks", "ns per call")
            .contender(
                "filch-processors, 10 ms each",
                beside::<Boxed>(waves, true, calls),
            )
            .contender("tokio, 10 ms each", beside::<Tokio>(waves, true, calls)),
        Scenario::new("wake a sleeping pool", "ns until the task runs")
            .sampled(50)
            .contender("filch-processors", wake::<Boxed>())
            .contender("std park, unpark", wake::<Sleeper>())
            .contender("rayon", wake::<ThreadPool>())
            .contender("tokio", wake::<Tokio>()),
    ]
}

/// Keeps the calls going until the end of the round.
#[derive(Default)]
struct Round {
    over: AtomicBool,
    alive: AtomicUsize,
    /// Calls that have ended.
    made: AtomicU64,
}

impl Round {
    /// Ends all calls, and waits until they have.
    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        while self.alive.load(Ordering::Acquire) > 0 {
            thread::yield_now();
        }
    }

    /// A call has ended; returns whether another follows.
    fn goes_on(&self) -> bool {
        self.made.fetch_add(1, Ordering::Relaxed);
        let on = !self.over.load(Ordering::Relaxed);
        if !on {
            self.alive.fetch_sub(1, Ordering::Release);
        }
        on
    }
}

/// A pool that runs tasks beside calls.
trait Beside: Tasks {
    /// Starts a call, and another one when it has ended, as long as that goes on.
    fn call(&self, round: Arc<Round>);
}

/// The time of a round, for each of the tasks or of the calls: `of` gets the number of calls that
/// ended meanwhile. A pool that makes fewer of them disturbs its tasks less: read both together.
fn beside<B: Beside>(
    waves: u64,
    with_calls: bool,
    of: impl Fn(u64) -> u64 + 'static,
) -> impl FnMut() -> f64 {
    let step = Work::micros(1);
    keeping(B::here, move |pool| {
        let round = Arc::new(Round::default());
        if with_calls {
            round.alive.store(CALLS, Ordering::Relaxed);
            (0..CALLS).for_each(|_| pool.call(Arc::clone(&round)));
        }
        let elapsed = time(|| {
            for _ in 0..waves {
                TOTAL.expect(sum_to(TASKS));
                (1..=TASKS).for_each(|number| {
                    pool.spawn(move || {
                        step.run();
                        TOTAL.add(number);
                    });
                });
                TOTAL.wait();
            }
        });
        let calls = round.made.load(Ordering::Relaxed);
        round.end();
        per_operation(elapsed, of(calls))
    })
}

fn call(pool: &Processors<Closure>, round: Arc<Round>) {
    pool.inject(Closure(Box::new(move |pool: &_| {
        pool.blocking(|| thread::sleep(CALL));
        if round.goes_on() {
            call(pool, round);
        }
    })));
}

impl Beside for Boxed {
    fn call(&self, round: Arc<Round>) {
        call(&self.pool, round);
    }
}

fn call_tokio(runtime: &Handle, round: Arc<Round>) {
    let handle = runtime.clone();
    drop(runtime.spawn(async move {
        let _ = handle.spawn_blocking(|| thread::sleep(CALL)).await;
        if round.goes_on() {
            call_tokio(&handle, round);
        }
    }));
}

impl Beside for Tokio {
    fn call(&self, round: Arc<Round>) {
        call_tokio(self.handle(), round);
    }
}

/// A thread that only parks, and runs the next task.
struct Sleeper {
    next: Arc<Next>,
    thread: thread::Thread,
}

type Next = Mutex<Option<Box<dyn FnOnce() + Send>>>;

impl Threads for Sleeper {
    fn with_workers(_workers: usize) -> Self {
        let next: Arc<Next> = Arc::default();
        let inbox = Arc::downgrade(&next);
        let handle = thread::spawn(move || {
            while let Some(inbox) = inbox.upgrade() {
                let task = inbox.lock().unwrap_or_else(PoisonError::into_inner).take();
                drop(inbox);
                task.map_or_else(thread::park, |task| task());
            }
        });
        Self {
            next,
            thread: handle.thread().clone(),
        }
    }
}

impl Tasks for Sleeper {
    fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(task));
        self.thread.unpark();
    }
}

/// The time from making a task runnable until it runs, while all threads of the pool sleep.
///
/// The kernel wakes a thread on the waker's core, or on another one that is idle. On two virtual
/// cores the latter takes twenty times as long, and what both cores did just before decides which:
/// so this is one wake-up, and the other contenders have their turns before the next.
fn wake<P: Tasks>() -> impl FnMut() -> f64 {
    keeping(P::here, |pool| {
        // Long enough for every pool to go to sleep.
        thread::sleep(Duration::from_micros(300));
        // Nanoseconds from the making of the task; 0 until it runs.
        let took = Arc::new(AtomicU64::new(0));
        let told = Arc::clone(&took);
        let made = Instant::now();
        pool.spawn(move || {
            let nanos = made.elapsed().as_nanos() as u64;
            told.store(nanos.max(1), Ordering::Release);
        });
        while took.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        took.load(Ordering::Relaxed) as f64
    })
}
