//! The cost of blocking calls to tasks that do not block, and of waking a sleeping pool for a task.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use filch_processors::Processors;
use tokio::runtime::Handle;

use super::{Boxed, Closure, Pool, Rayon, Tokio};
use crate::clock::{per_operation, time};
use crate::harness::{Effort, Scenario, keeping};
use crate::pools::TOTAL;
use crate::total::sum_to;

/// Blocking calls under way at a time.
const CALLS: usize = 100;

/// Tasks that only compute, per wave.
const TASKS: u64 = 100_000;

/// The time that each of the calls blocks which come and go.
const CALL: Duration = Duration::from_millis(10);

pub(super) fn scenarios(effort: Effort) -> [Scenario; 3] {
    let waves = effort.operations(8);
    let (none, stay, come_and_go) = (Calls::None, Calls::Stay, Calls::ComeAndGo);
    let ours = |calls| beside::<Boxed>(waves, calls);
    let threads = |calls| beside::<Threads>(waves, calls);
    let tokio = |calls| beside::<Tokio>(waves, calls);
    let task = |round| task_time(waves, round);
    [
        Scenario::new("CPU tasks beside 100 blocking calls", "ns per task")
            .contender("filch-processors, undisturbed", task(ours(none)))
            .contender("filch-processors, they stay", task(ours(stay)))
            .contender("filch-processors, 10 ms each", task(ours(come_and_go)))
            .floor("two threads, undisturbed", task(threads(none)))
            .floor(
                "two threads, 100 that sleep 10 ms",
                task(threads(come_and_go)),
            )
            .contender("tokio, undisturbed", task(tokio(none)))
            .contender("tokio, they stay", task(tokio(stay)))
            .contender("tokio, 10 ms each", task(tokio(come_and_go))),
        Scenario::new("blocking calls made beside CPU tasks", "ns per call")
            .contender("filch-processors, 10 ms each", call_time(ours(come_and_go)))
            .floor(
                "two threads, 100 that sleep 10 ms",
                call_time(threads(come_and_go)),
            )
            .contender("tokio, 10 ms each", call_time(tokio(come_and_go))),
        Scenario::new("wake a sleeping pool", "ns until the task runs")
            .sampled(effort.operations(400))
            .contender(
                "filch-processors",
                wake(<Boxed as Pool>::new, |pool, stamp| {
                    pool.pool.inject(Closure(Box::new(move |_| stamp.set())));
                }),
            )
            .contender("std park, unpark", wake(Sleeper::new, Sleeper::wake))
            .contender(
                "rayon",
                wake(<Rayon as Pool>::new, |pool, stamp| {
                    pool.spawn(move || stamp.set());
                }),
            )
            .contender(
                "tokio",
                wake(<Tokio as Pool>::new, |pool, stamp| {
                    drop(Tokio::spawn(pool, async move { stamp.set() }));
                }),
            ),
    ]
}

/// A turn, in a box: there are several kinds.
type Turn = Box<dyn FnMut() -> Taken>;

/// The kinds of blocking calls.
#[derive(Clone, Copy, PartialEq)]
enum Calls {
    None,
    /// Calls from before the first task until after the last one.
    Stay,
    /// Each ends after [`CALL`], and its task makes the next.
    ComeAndGo,
}

/// Keeps the calls going until the end of the round.
#[derive(Default)]
struct Round {
    over: AtomicBool,
    lock: Mutex<bool>,
    ended: Condvar,
    alive: AtomicUsize,
    /// Calls that have ended.
    made: AtomicU64,
}

/// The time of a round, and the calls that ended meanwhile.
struct Taken {
    elapsed: Duration,
    calls: u64,
}

/// The time of a task. A pool that makes fewer calls disturbs its tasks less: read it together with
/// the time of a call.
fn task_time(waves: u64, mut round: Turn) -> impl FnMut() -> f64 {
    move || per_operation(round().elapsed, waves * TASKS)
}

/// The time of the round for each of its calls.
fn call_time(mut round: Turn) -> impl FnMut() -> f64 {
    move || {
        let taken = round();
        per_operation(taken.elapsed, taken.calls.max(1))
    }
}

impl Round {
    fn block(&self, calls: Calls) {
        if calls == Calls::ComeAndGo {
            thread::sleep(CALL);
            return;
        }
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.ended.wait_while(guard, |over| !*over));
    }

    /// Ends all calls, and waits until they have.
    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ended.notify_all();
        while self.alive.load(Ordering::Acquire) > 0 {
            thread::yield_now();
        }
    }

    /// Returns whether another call follows.
    fn goes_on(&self) -> bool {
        self.made.fetch_add(1, Ordering::Relaxed);
        let on = !self.over.load(Ordering::Relaxed);
        if !on {
            self.alive.fetch_sub(1, Ordering::Release);
        }
        on
    }
}

/// About a microsecond.
fn compute(number: u64) {
    let mut state = number;
    for _ in 0..400 {
        state = black_box(state.wrapping_mul(0x2545_F491_4F6C_DD1D).rotate_left(17));
    }
    black_box(state);
    TOTAL.add(number);
}

/// A pool that runs tasks beside calls.
trait Beside: 'static {
    fn new() -> Self;

    /// Starts a call, and another one when it has ended, as long as that goes on.
    fn call(&self, round: Arc<Round>, calls: Calls);

    /// Starts a task for each number up to [`TASKS`], which [computes](compute) with it.
    fn wave(&self);
}

fn beside<B: Beside>(waves: u64, calls: Calls) -> Turn {
    Box::new(keeping(B::new, move |pool| {
        let round = Arc::new(Round::default());
        if calls != Calls::None {
            round.alive.store(CALLS, Ordering::Relaxed);
            (0..CALLS).for_each(|_| pool.call(Arc::clone(&round), calls));
        }
        let elapsed = time(|| {
            for _ in 0..waves {
                TOTAL.expect(sum_to(TASKS));
                pool.wave();
                TOTAL.wait();
            }
        });
        let calls = round.made.load(Ordering::Relaxed);
        round.end();
        Taken { elapsed, calls }
    }))
}

fn call(pool: &Processors<Closure>, round: Arc<Round>, calls: Calls) {
    pool.inject(Closure(Box::new(move |pool: &_| {
        pool.blocking(|| round.block(calls));
        if round.goes_on() {
            call(pool, round, calls);
        }
    })));
}

impl Beside for Boxed {
    fn new() -> Self {
        Self::start()
    }

    fn call(&self, round: Arc<Round>, calls: Calls) {
        call(&self.pool, round, calls);
    }

    fn wave(&self) {
        for number in 1..=TASKS {
            let task = move |_: &_| compute(number);
            self.pool.inject(Closure(Box::new(task)));
        }
    }
}

/// The floor: no pool. Two threads share the tasks, a hundred others make the calls.
struct Threads;

impl Beside for Threads {
    fn new() -> Self {
        Self
    }

    fn call(&self, round: Arc<Round>, calls: Calls) {
        let caller = move || {
            round.block(calls);
            while round.goes_on() {
                round.block(calls);
            }
        };
        drop(thread::spawn(caller));
    }

    fn wave(&self) {
        thread::scope(|scope| {
            for first in 1..=2 {
                scope.spawn(move || (first..=TASKS).step_by(2).for_each(compute));
            }
        });
    }
}

fn call_tokio(runtime: &Handle, round: Arc<Round>, calls: Calls) {
    let handle = runtime.clone();
    drop(runtime.spawn(async move {
        let blocked = Arc::clone(&round);
        let _ = handle.spawn_blocking(move || blocked.block(calls)).await;
        if round.goes_on() {
            call_tokio(&handle, round, calls);
        }
    }));
}

impl Beside for Tokio {
    fn new() -> Self {
        Pool::new()
    }

    fn call(&self, round: Arc<Round>, calls: Calls) {
        call_tokio(self.handle(), round, calls);
    }

    fn wave(&self) {
        for number in 1..=TASKS {
            drop(Tokio::spawn(self, async move { compute(number) }));
        }
    }
}

/// The time when a task ran, in nanoseconds since it was made; 0 before that.
struct Stamp {
    made: Instant,
    ran: AtomicU64,
}

impl Stamp {
    fn set(&self) {
        let nanos = self.made.elapsed().as_nanos() as u64;
        self.ran.store(nanos.max(1), Ordering::Release);
    }
}

/// A thread that only parks and sets stamps.
struct Sleeper {
    next: Arc<Mutex<Option<Arc<Stamp>>>>,
    thread: thread::Thread,
}

impl Sleeper {
    fn new() -> Self {
        let next: Arc<Mutex<Option<Arc<Stamp>>>> = Arc::default();
        let inbox = Arc::downgrade(&next);
        let handle = thread::spawn(move || {
            while let Some(inbox) = inbox.upgrade() {
                let stamp = inbox.lock().unwrap_or_else(PoisonError::into_inner).take();
                drop(inbox);
                match stamp {
                    Some(stamp) => stamp.set(),
                    None => thread::park(),
                }
            }
        });
        Self {
            next,
            thread: handle.thread().clone(),
        }
    }

    fn wake(&self, stamp: Arc<Stamp>) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(stamp);
        self.thread.unpark();
    }
}

/// The time from making a task runnable until it runs, while all threads of the pool sleep.
///
/// The kernel wakes a thread on the waker's core, or on another one that is idle. On two virtual
/// cores the latter takes twenty times as long, and what both cores did just before decides which:
/// so this is one wake-up, and the other contenders have their turns before the next.
fn wake<P>(pool: fn() -> P, spawn: impl Fn(&P, Arc<Stamp>) + 'static) -> impl FnMut() -> f64 {
    keeping(pool, move |pool| {
        // Long enough for every pool to go to sleep.
        thread::sleep(Duration::from_micros(300));
        let stamp = Arc::new(Stamp {
            made: Instant::now(),
            ran: AtomicU64::new(0),
        });
        spawn(pool, Arc::clone(&stamp));
        while stamp.ran.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        stamp.ran.load(Ordering::Relaxed) as f64
    })
}
