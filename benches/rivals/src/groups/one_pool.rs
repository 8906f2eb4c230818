//! Processes and jobs on the same cores: on one set of threads, on two, and on the rivals' two.
//!
//! The jobs are fib without cut-off, which never gives way by itself; the processes are a pair that
//! sends a ball to and fro, and never rests.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use filch_fork_join::Pool as Jobs;

use super::fairness::Over;
use super::fork_join::programs::{self, Rayon};
use crate::clock::{time, used};
use crate::harness::{Scenario, keeping, merged};
use crate::pools::{Pool, Talking, Threads, Tokio};
use crate::work::workers;

use super::latency::PERIOD;
use super::latency::events::{Message, round};

/// The argument of the recursion, as rows are named after: some 25 ms on two cores.
const FIB: u32 = 35;

/// Two pools, for processes and for jobs, on as many cores together as each alone would have.
struct Both<P> {
    processes: P,
    /// Computes fib, from a thread outside.
    fib: Box<dyn Fn() -> u64 + Sync>,
}

/// Processes and jobs have the same threads.
fn one_pool() -> Both<Talking> {
    let processes = Talking::here();
    let jobs = Jobs::on(&processes.pool()).expect("its threads are free");
    with(processes, jobs)
}

/// Each has its own, and the system divides the cores among them.
fn two_pools() -> Both<Talking> {
    let jobs = Jobs::new(workers()).expect("the system gives threads");
    with(Talking::here(), jobs)
}

fn with(processes: Talking, jobs: Jobs) -> Both<Talking> {
    let fib = move || jobs.install(|worker| programs::filch::fib(worker, FIB));
    Both {
        processes,
        fib: Box::new(fib),
    }
}

fn rivals() -> Both<Tokio> {
    let pool = rayon::ThreadPool::here();
    let fib = move || pool.install(|| programs::rayon::fib(Rayon, FIB));
    Both {
        processes: Tokio::here(),
        fib: Box::new(fib),
    }
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    merged([
        of("filch, one pool", one_pool),
        of("filch, two pools", two_pools),
        of("tokio and rayon", rivals),
    ])
}

/// All scenarios, with so many workers for each kind of work.
fn of<P: Pool>(name: &'static str, both: fn() -> Both<P>) -> Vec<Scenario> {
    let hops = 50_000;
    let messages = 25;
    let counts = [1, 125_000];
    let of = |name: &str, unit| Scenario::of_workers(name, workers(), unit);
    let mixed = "fib and hops, a fixed number of each";
    let elapsed = keeping(both, move |both| millis(time(|| mix(both, counts))));
    let processor_time = keeping(both, move |both| millis(used(|| mix(both, counts))));
    vec![
        of(mixed, "ms").contender(name, elapsed),
        of(&format!("{mixed}: processor time"), "ms").contender(name, processor_time),
        of("a hop beside fib", "us").latencies(name, hops_beside_fib(both, hops)),
        of("a message from outside beside fib", "us")
            .latencies(name, messages_beside_fib(both, messages)),
    ]
}

/// Runs so many of both at once.
fn mix(both: &Both<impl Pool>, [fibs, hops]: [u64; 2]) {
    thread::scope(|scope| {
        scope.spawn(|| (0..fibs).for_each(|_| _ = black_box((both.fib)())));
        run_hops(&both.processes, hops);
    });
}

/// So many hops of a pair.
fn run_hops(pool: &impl Pool, hops: u64) {
    let (done, is_done) = mpsc::channel();
    let left = Arc::new(AtomicU64::new(hops));
    pool.pair(move || {
        let is_last = left.fetch_sub(1, Ordering::Relaxed) == 1;
        if is_last {
            done.send(()).expect("the caller waits");
        }
        !is_last
    });
    is_done.recv().expect("the last one says so");
}

fn millis(elapsed: Duration) -> f64 {
    elapsed.as_secs_f64() * 1e3
}

/// Computes fib over and over.
fn keep_computing(both: &Both<impl Pool>, over: &Over) {
    while over.not_yet() {
        black_box((both.fib)());
    }
}

/// Measures from one step of a pair to the next.
fn hops_beside_fib<P: Pool>(both: fn() -> Both<P>, hops: u64) -> impl FnMut() -> Vec<f64> {
    keeping(both, move |both| {
        let over = Over::default();
        let (done, is_done) = mpsc::channel();
        let steps = Arc::new(Mutex::new(Vec::with_capacity(hops as usize + 1)));
        let all = Arc::clone(&steps);
        thread::scope(|scope| {
            scope.spawn(|| keep_computing(both, &over));
            both.processes.pair(move || {
                let mut steps = steps.lock().expect("no panic");
                steps.push(Instant::now());
                let goes_on = steps.len() as u64 <= hops;
                if !goes_on {
                    // The other one may take one step more.
                    let _ = done.send(());
                }
                goes_on
            });
            is_done.recv().expect("the last one says so");
            over.set();
        });
        let steps = all.lock().expect("no panic");
        let hops = steps
            .windows(2)
            .map(|hop| (hop[1] - hop[0]).as_secs_f64() * 1e6);
        hops.collect()
    })
}

/// Measures from the sending to the step, for a process that is idle otherwise.
fn messages_beside_fib<P: Pool>(both: fn() -> Both<P>, messages: u64) -> impl FnMut() -> Vec<f64> {
    keeping(both, move |both| {
        let keep_busy = |_: &_, over: &Over| keep_computing(both, over);
        round::<_, Message>(&both.processes, keep_busy, messages, PERIOD).latencies
    })
}
