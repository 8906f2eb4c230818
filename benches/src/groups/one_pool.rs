//! Processes and jobs on the same cores: on one set of threads, on two, and on the rivals' two.
//!
//! The jobs are fib without cut-off, which never gives way by itself; the processes are a pair that
//! sends a ball to and fro, and never rests.

use std::cell::LazyCell;
use std::fs;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use filch_fork_join::{Pool as Jobs, Worker};

use super::fairness::contenders::{Filch, Pool, Tokio};
use super::fairness::titled;
use crate::harness::{Effort, Scenario, per_operation, time};
use crate::processor_time::used;
use crate::rivals::{WORKERS, rayon_pool_of, tokio_runtime_of};

/// The argument of the recursion, as rows are named after: some 25 ms on two cores.
const FIB: u32 = 35;

/// Calls of that which fork, or nearly.
const FORKS: u64 = 14_930_351;

/// What runs processes and what runs jobs, on as many cores together as each alone would have.
trait Both: Sized + 'static {
    type Processes: Pool;

    fn new(workers: usize) -> Self;
    fn processes(&self) -> &Self::Processes;

    /// Computes fib, from a thread outside.
    fn fib(&self, n: u32) -> u64;
}

/// Processes and jobs have the same threads.
struct OnePool(Filch, Jobs);

/// Each has its own, and the system divides the cores among them.
struct TwoPools(Filch, Jobs);

struct Rivals(Tokio, rayon::ThreadPool);

fn own(workers: usize) -> Jobs {
    Jobs::new(workers).expect("the system gives threads")
}

impl Both for OnePool {
    type Processes = Filch;

    fn new(workers: usize) -> Self {
        let scheduler = Filch::new(workers);
        let jobs = Jobs::on(&scheduler.pool()).expect("its threads are free");
        Self(scheduler, jobs)
    }

    fn processes(&self) -> &Filch {
        &self.0
    }

    fn fib(&self, n: u32) -> u64 {
        self.1.install(|worker| fib(worker, n))
    }
}

impl Both for TwoPools {
    type Processes = Filch;

    fn new(workers: usize) -> Self {
        Self(Filch::new(workers), own(workers))
    }

    fn processes(&self) -> &Filch {
        &self.0
    }

    fn fib(&self, n: u32) -> u64 {
        self.1.install(|worker| fib(worker, n))
    }
}

impl Both for Rivals {
    type Processes = Tokio;

    fn new(workers: usize) -> Self {
        Self(tokio_runtime_of(workers), rayon_pool_of(workers))
    }

    fn processes(&self) -> &Tokio {
        &self.0
    }

    fn fib(&self, n: u32) -> u64 {
        self.1.install(|| fib_on_rayon(n))
    }
}

fn fib(worker: &Worker, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = worker.join(|w| fib(w, n - 1), |w| fib(w, n - 2));
    a + b
}

fn fib_on_rayon(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = rayon::join(|| fib_on_rayon(n - 1), || fib_on_rayon(n - 2));
    a + b
}

/// The three, in one of the ways to measure them.
macro_rules! all {
    ($scenario:expr, $add:ident, $turn:ident($($argument:expr),*)) => {
        $scenario
            .$add("filch, one pool", $turn::<OnePool>($($argument),*))
            .$add("filch, two pools", $turn::<TwoPools>($($argument),*))
            .$add("tokio and rayon", $turn::<Rivals>($($argument),*))
    };
}

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let all = curve(WORKERS, effort).into_iter();
    all.map(|(_, scenario)| scenario).collect()
}

/// All scenarios, with so many workers for each kind of work.
pub(crate) fn curve(workers: usize, effort: Effort) -> [(&'static str, Scenario); 7] {
    let hops = effort.operations(400_000);
    let mix = Mix {
        fibs: effort.operations(8),
        hops: effort.operations(1_000_000),
    };
    let of = |name: &'static str, unit, fill: &dyn Fn(Scenario) -> Scenario| {
        (name, fill(titled(name, workers, unit)))
    };
    [
        of("fib(35), no process", "ns per fork", &|scenario| {
            scenario
                .contender("filch, a scheduler's threads", {
                    let both = LazyCell::new(move || OnePool::new(workers));
                    move || timed_fib(&both.1)
                })
                .contender("filch, its own threads", {
                    let jobs = LazyCell::new(move || own(workers));
                    move || timed_fib(&jobs)
                })
        }),
        of("hops, no job", "ns per hop", &|scenario| {
            scenario
                .contender("filch, with a pool attached", {
                    let both = LazyCell::new(move || OnePool::new(workers));
                    move || per_operation(timed_hops(&both.0, hops), hops)
                })
                .contender("filch, without", {
                    let scheduler = LazyCell::new(move || Filch::new(workers));
                    move || per_operation(timed_hops(&*scheduler, hops), hops)
                })
        }),
        of("fib and hops, a fixed number of each", "ms", &|scenario| {
            all!(scenario, contender, mixed(workers, mix))
        }),
        of(
            "fib and hops, a fixed number of each: processor time",
            "ms",
            &|scenario| all!(scenario, contender, processor_time(workers, mix)),
        ),
        of(
            "fib and hops, a fixed number of each: context switches",
            "switches",
            &|scenario| all!(scenario, contender, context_switches(workers, mix)),
        ),
        of("a hop beside fib", "us", &|scenario| {
            all!(scenario, latencies, hops_beside_fib(workers, hops))
        }),
        of("a message from outside beside fib", "us", &|scenario| {
            let messages = effort.operations(200);
            all!(scenario, latencies, messages_beside_fib(workers, messages))
        }),
    ]
}

/// How much of each.
#[derive(Clone, Copy)]
struct Mix {
    fibs: u64,
    hops: u64,
}

impl Mix {
    /// Does it, with both at once.
    fn run(self, both: &(impl Both + Sync)) {
        thread::scope(|scope| {
            scope.spawn(|| (0..self.fibs).for_each(|_| _ = black_box(both.fib(FIB))));
            timed_hops(both.processes(), self.hops);
        });
    }
}

fn timed_fib(jobs: &Jobs) -> f64 {
    let elapsed = time(|| _ = black_box(jobs.install(|worker| fib(worker, FIB))));
    per_operation(elapsed, FORKS)
}

/// How long a pair takes for so many hops.
fn timed_hops(pool: &impl Pool, hops: u64) -> Duration {
    let (done, is_done) = mpsc::channel();
    let left = Arc::new(AtomicU64::new(hops));
    let started = Instant::now();
    pool.pair(move || {
        let is_last = left.fetch_sub(1, Ordering::Relaxed) == 1;
        if is_last {
            done.send(()).expect("the caller waits");
        }
        !is_last
    });
    is_done.recv().expect("the last one says so");
    started.elapsed()
}

fn millis(elapsed: Duration) -> f64 {
    elapsed.as_secs_f64() * 1e3
}

fn mixed<B: Both + Sync>(workers: usize, mix: Mix) -> impl FnMut() -> f64 {
    let both = LazyCell::new(move || B::new(workers));
    move || millis(time(|| mix.run(&*both)))
}

fn processor_time<B: Both + Sync>(workers: usize, mix: Mix) -> impl FnMut() -> f64 {
    let both = LazyCell::new(move || B::new(workers));
    move || {
        let both = &*both;
        millis(used(|| mix.run(both)))
    }
}

fn context_switches<B: Both + Sync>(workers: usize, mix: Mix) -> impl FnMut() -> f64 {
    let both = LazyCell::new(move || B::new(workers));
    move || {
        let both = &*both;
        let before = switches();
        mix.run(both);
        switches().saturating_sub(before) as f64
    }
}

/// How often threads of this program that live now have been switched from, as far as the system
/// says.
fn switches() -> u64 {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let of_thread = |status: String| -> u64 {
        let counts = (status.lines())
            .filter_map(|line| line.split_once("ctxt_switches:"))
            .filter_map(|(_, count)| count.trim().parse::<u64>().ok());
        counts.sum()
    };
    (threads.flatten())
        .filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok())
        .map(of_thread)
        .sum()
}

/// Runs `work` while another thread has fib computed over and over.
fn beside_fib<B: Both + Sync>(both: &B, work: impl FnOnce()) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                black_box(both.fib(FIB));
            }
        });
        work();
        over.store(true, Ordering::Relaxed);
    });
}

/// From one step of a pair to the next.
fn hops_beside_fib<B: Both + Sync>(workers: usize, hops: u64) -> impl FnMut() -> Vec<f64> {
    let both = LazyCell::new(move || B::new(workers));
    move || {
        let both = &*both;
        let latencies = Arc::new(Mutex::new(Vec::with_capacity(hops as usize)));
        beside_fib(both, || {
            let (done, is_done) = mpsc::channel();
            let last = Arc::new(Mutex::new(None::<Instant>));
            let latencies = Arc::clone(&latencies);
            both.processes().pair(move || {
                let now = Instant::now();
                let mut latencies = latencies.lock().expect("no panic");
                let before = last.lock().expect("no panic").replace(now);
                if let Some(before) = before {
                    latencies.push((now - before).as_secs_f64() * 1e6);
                }
                let goes_on = (latencies.len() as u64) < hops;
                if !goes_on {
                    // The other one may take one step more.
                    let _ = done.send(());
                }
                goes_on
            });
            is_done.recv().expect("the last one says so");
        });
        let latencies = latencies.lock().expect("no panic");
        latencies.clone()
    }
}

/// From the sending to the step, for a process that is idle otherwise.
fn messages_beside_fib<B: Both + Sync>(workers: usize, messages: u64) -> impl FnMut() -> Vec<f64> {
    let both = LazyCell::new(move || B::new(workers));
    move || {
        let both = &*both;
        let (took, taken) = mpsc::channel();
        let began = Instant::now();
        let send = both.processes().receiver(move |sent| {
            let latency = began.elapsed().saturating_sub(Duration::from_nanos(sent));
            // The caller goes away before the receiver does.
            let _ = took.send(latency);
        });
        let mut latencies = Vec::new();
        beside_fib(both, || {
            for _ in 0..messages {
                // Of no length that goes together with another one's interval.
                thread::sleep(Duration::from_micros(
                    700 + 13 * latencies.len() as u64 % 600,
                ));
                send(began.elapsed().as_nanos() as u64);
                let latency = taken.recv().expect("the receiver lives");
                latencies.push(latency.as_secs_f64() * 1e6);
            }
        });
        latencies
    }
}
