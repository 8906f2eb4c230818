//! What blocking calls cost the tasks that do not block, and how soon a sleeping pool runs a task.

use std::cell::LazyCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use filch_processors::Processors;

use super::{Closure, Filch, Pool, TOTAL};
use crate::harness::{Effort, Scenario, per_operation, time};
use crate::rivals::{WORKERS, rayon_pool, tokio_runtime};
use crate::total::sum_to;

/// Blocking calls under way at a time.
const CALLS: usize = 100;

/// Tasks that only compute, per wave.
const TASKS: u64 = 100_000;

/// How long each of the calls that come and go blocks.
const CALL: Duration = Duration::from_millis(10);

pub(super) fn scenarios(effort: Effort) -> [Scenario; 3] {
    let waves = effort.operations(8);
    let ours = |calls| beside(waves, calls);
    let threads = |calls| plain(waves, calls);
    let tokio = |calls| beside_tokio(waves, calls);
    let (none, stay, come_and_go) = (Calls::None, Calls::Stay, Calls::ComeAndGo);
    [
        Scenario::new("CPU tasks beside 100 blocking calls", "ns per task")
            .contender(
                "filch-processors, undisturbed",
                task_time(waves, ours(none)),
            )
            .contender("filch-processors, they stay", task_time(waves, ours(stay)))
            .contender(
                "filch-processors, 10 ms each",
                task_time(waves, ours(come_and_go)),
            )
            .floor("two threads, undisturbed", task_time(waves, threads(none)))
            .floor(
                "two threads, 100 that sleep 10 ms",
                task_time(waves, threads(come_and_go)),
            )
            .contender("tokio, undisturbed", task_time(waves, tokio(none)))
            .contender("tokio, they stay", task_time(waves, tokio(stay)))
            .contender("tokio, 10 ms each", task_time(waves, tokio(come_and_go))),
        Scenario::new("blocking calls made beside CPU tasks", "ns per call")
            .contender("filch-processors, 10 ms each", call_time(ours(come_and_go)))
            .floor(
                "two threads, 100 that sleep 10 ms",
                call_time(threads(come_and_go)),
            )
            .contender("tokio, 10 ms each", call_time(tokio(come_and_go))),
        Scenario::new("wake a sleeping pool", "ns until the task runs")
            .sampled(effort.operations(400))
            .contender("filch-processors", {
                let pool = LazyCell::new(|| Filch::<Closure>::new(WORKERS));
                wake(move |stamp| {
                    pool.pool.inject(Closure(Box::new(move |_| stamp.set())));
                })
            })
            .contender("std park, unpark", {
                let sleeper = LazyCell::new(Sleeper::new);
                wake(move |stamp| sleeper.wake(stamp))
            })
            .contender("rayon", {
                let pool = LazyCell::new(rayon_pool);
                wake(move |stamp| pool.spawn(move || stamp.set()))
            })
            .contender("tokio", {
                let pool = LazyCell::new(tokio_runtime);
                wake(move |stamp| {
                    drop(pool.spawn(async move { stamp.set() }));
                })
            }),
    ]
}

/// Which blocking calls there are.
#[derive(Clone, Copy, PartialEq)]
enum Calls {
    None,
    /// From before the first task until after the last one.
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
fn task_time(waves: u64, mut round: impl FnMut() -> Taken) -> impl FnMut() -> f64 {
    move || per_operation(round().elapsed, waves * TASKS)
}

/// The time of the round for each of its calls.
fn call_time(mut round: impl FnMut() -> Taken) -> impl FnMut() -> f64 {
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

    /// Whether another call follows.
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

fn call(pool: &Processors<Closure>, round: Arc<Round>, calls: Calls) {
    pool.inject(Closure(Box::new(move |pool: &_| {
        pool.blocking(|| round.block(calls));
        if round.goes_on() {
            call(pool, round, calls);
        }
    })));
}

/// Runs `wave` beside calls, each of which `start` starts.
fn with_calls(calls: Calls, start: impl Fn(Arc<Round>), wave: impl FnOnce()) -> Taken {
    let round = Arc::new(Round::default());
    if calls != Calls::None {
        round.alive.store(CALLS, Ordering::Relaxed);
        (0..CALLS).for_each(|_| start(Arc::clone(&round)));
    }
    let elapsed = time(wave);
    let calls = round.made.load(Ordering::Relaxed);
    round.end();
    Taken { elapsed, calls }
}

fn beside(waves: u64, calls: Calls) -> impl FnMut() -> Taken {
    let pool = LazyCell::new(|| Filch::<Closure>::new(WORKERS));
    move || {
        let pool = &pool.pool;
        let wave = || {
            for _ in 0..waves {
                TOTAL.expect(sum_to(TASKS));
                for number in 1..=TASKS {
                    pool.inject(Closure(Box::new(move |_| compute(number))));
                }
                TOTAL.wait();
            }
        };
        with_calls(calls, |round| call(pool, round, calls), wave)
    }
}

/// The floor: no pool. Two threads share the tasks, a hundred others make the calls.
fn plain(waves: u64, calls: Calls) -> impl FnMut() -> Taken {
    move || {
        let start = |round: Arc<Round>| {
            let caller = move || {
                round.block(calls);
                while round.goes_on() {
                    round.block(calls);
                }
            };
            drop(thread::spawn(caller));
        };
        let wave = || {
            for _ in 0..waves {
                TOTAL.expect(sum_to(TASKS));
                thread::scope(|scope| {
                    for first in 1..=2 {
                        scope.spawn(move || (first..=TASKS).step_by(2).for_each(compute));
                    }
                });
                TOTAL.wait();
            }
        };
        with_calls(calls, start, wave)
    }
}

fn call_tokio(runtime: &tokio::runtime::Handle, round: Arc<Round>, calls: Calls) {
    let handle = runtime.clone();
    drop(runtime.spawn(async move {
        let blocked = Arc::clone(&round);
        let _ = handle.spawn_blocking(move || blocked.block(calls)).await;
        if round.goes_on() {
            call_tokio(&handle, round, calls);
        }
    }));
}

fn beside_tokio(waves: u64, calls: Calls) -> impl FnMut() -> Taken {
    let runtime = LazyCell::new(tokio_runtime);
    move || {
        let runtime = &*runtime;
        let wave = || {
            for _ in 0..waves {
                TOTAL.expect(sum_to(TASKS));
                for number in 1..=TASKS {
                    drop(runtime.spawn(async move { compute(number) }));
                }
                TOTAL.wait();
            }
        };
        let start = |round| call_tokio(runtime.handle(), round, calls);
        with_calls(calls, start, wave)
    }
}

/// When a task ran, in nanoseconds since it was made; 0 before that.
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
fn wake(spawn: impl Fn(Arc<Stamp>) + 'static) -> impl FnMut() -> f64 {
    move || {
        // Long enough for every pool to go to sleep.
        thread::sleep(Duration::from_micros(300));
        let stamp = Arc::new(Stamp {
            made: Instant::now(),
            ran: AtomicU64::new(0),
        });
        spawn(Arc::clone(&stamp));
        while stamp.ran.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        stamp.ran.load(Ordering::Relaxed) as f64
    }
}
