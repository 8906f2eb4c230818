//! Processes and jobs on the same cores: on one set of threads, on two, and on the rivals' two.
//!
//! The jobs are fib without cut-off, which never gives way by itself; the processes are a pair that
//! sends a ball to and fro, and never rests.

use std::fs;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use filch_fork_join::{Pool as Jobs, Worker};

use crate::clock::{cost, per_operation, time};
use crate::harness::{Effort, Scenario, keeping};
use crate::pools::{Actors, Pool, Talking, Tokio, rayon_pool, tokio_runtime};
use crate::processor_time::used;
use crate::workers::workers;

/// The argument of the recursion, as rows are named after: some 25 ms on two cores.
const FIB: u32 = 35;

/// Calls of that which fork, or nearly.
const FORKS: u64 = 14_930_351;

/// Two pools, for processes and for jobs, on as many cores together as each alone would have.
trait Both: Sync + 'static {
    type Processes: Pool;

    fn new() -> Self;
    fn processes(&self) -> &Self::Processes;

    /// Computes fib, from a thread outside.
    fn fib(&self) -> u64;
}

/// Processes and jobs have the same threads.
struct OnePool(Talking, Jobs);

/// Each has its own, and the system divides the cores among them.
struct TwoPools(Talking, Jobs);

struct Rivals(Tokio, rayon::ThreadPool);

fn scheduler() -> Talking {
    Actors::<u64>::new(workers())
}

fn jobs() -> Jobs {
    Jobs::new(workers()).expect("the system gives threads")
}

/// `$new` is what has them, the field 0 the processes, and `$fib` a call with the field 1.
macro_rules! both {
    ($both:ty, $processes:ty, $new:expr, $fib:expr) => {
        impl Both for $both {
            type Processes = $processes;

            fn new() -> Self {
                $new
            }

            fn processes(&self) -> &$processes {
                &self.0
            }

            fn fib(&self) -> u64 {
                $fib(&self.1)
            }
        }
    };
}

both!(
    OnePool,
    Talking,
    {
        let scheduler = scheduler();
        let jobs = Jobs::on(&scheduler.pool()).expect("its threads are free");
        Self(scheduler, jobs)
    },
    fib_on_ours
);
both!(TwoPools, Talking, Self(scheduler(), jobs()), fib_on_ours);
both!(
    Rivals,
    Tokio,
    Self(tokio_runtime(workers()), rayon_pool(workers())),
    |rayon: &rayon::ThreadPool| rayon.install(|| fib_on_rayon(FIB))
);

fn fib_on_ours(jobs: &Jobs) -> u64 {
    jobs.install(|worker| fib(worker, FIB))
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

/// All scenarios, with so many workers for each kind of work.
pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let hops = effort.operations(400_000);
    let messages = effort.operations(200);
    let mix = Mix {
        fibs: effort.operations(8),
        hops: effort.operations(1_000_000),
    };
    let of = |name: &str, unit| Scenario::of_workers(name, workers(), unit);
    let mixed = |of_what: &str, unit| {
        of(
            &format!("fib and hops, a fixed number of each{of_what}"),
            unit,
        )
    };
    vec![
        of("fib(35), no process", "ns per fork")
            .contender(
                "filch, a scheduler's threads",
                keeping(OnePool::new, |both| timed_fib(&both.1)),
            )
            .contender("filch, its own threads", keeping(jobs, timed_fib)),
        of("hops, no job", "ns per hop")
            .contender(
                "filch, with a pool attached",
                keeping(OnePool::new, move |both| timed_hops(&both.0, hops)),
            )
            .contender(
                "filch, without",
                keeping(scheduler, move |scheduler| timed_hops(scheduler, hops)),
            ),
        all!(mixed("", "ms"), contender, elapsed(mix)),
        all!(
            mixed(": processor time", "ms"),
            contender,
            processor_time(mix)
        ),
        all!(
            mixed(": context switches", "switches"),
            contender,
            context_switches(mix)
        ),
        all!(
            of("a hop beside fib", "us"),
            latencies,
            hops_beside_fib(hops)
        ),
        all!(
            of("a message from outside beside fib", "us"),
            latencies,
            messages_beside_fib(messages)
        ),
    ]
}

/// The number of each.
#[derive(Clone, Copy)]
struct Mix {
    fibs: u64,
    hops: u64,
}

impl Mix {
    /// Runs both at once.
    fn run(self, both: &impl Both) {
        thread::scope(|scope| {
            scope.spawn(|| (0..self.fibs).for_each(|_| _ = black_box(both.fib())));
            timed_hops(both.processes(), self.hops);
        });
    }
}

fn timed_fib(jobs: &Jobs) -> f64 {
    cost(FORKS, || _ = black_box(fib_on_ours(jobs)))
}

/// Measures each of so many hops of a pair.
fn timed_hops(pool: &impl Pool, hops: u64) -> f64 {
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
    per_operation(started.elapsed(), hops)
}

fn millis(elapsed: Duration) -> f64 {
    elapsed.as_secs_f64() * 1e3
}

fn elapsed<B: Both>(mix: Mix) -> impl FnMut() -> f64 {
    keeping(B::new, move |both| millis(time(|| mix.run(both))))
}

fn processor_time<B: Both>(mix: Mix) -> impl FnMut() -> f64 {
    keeping(B::new, move |both| millis(used(|| mix.run(both))))
}

fn context_switches<B: Both>(mix: Mix) -> impl FnMut() -> f64 {
    keeping(B::new, move |both| {
        let before = switches();
        mix.run(both);
        switches().saturating_sub(before) as f64
    })
}

/// Counts the switches away from threads of this program that live now, as far as the system says.
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
fn beside_fib(both: &impl Both, work: impl FnOnce()) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                black_box(both.fib());
            }
        });
        work();
        over.store(true, Ordering::Relaxed);
    });
}

/// Measures from one step of a pair to the next.
fn hops_beside_fib<B: Both>(hops: u64) -> impl FnMut() -> Vec<f64> {
    keeping(B::new, move |both| {
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
    })
}

/// Measures from the sending to the step, for a process that is idle otherwise.
fn messages_beside_fib<B: Both>(messages: u64) -> impl FnMut() -> Vec<f64> {
    keeping(B::new, move |both| {
        let (took, taken) = mpsc::channel();
        let began = Instant::now();
        let receiver = both.processes().actor(move |sent| {
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
                let sent = began.elapsed().as_nanos() as u64;
                assert!(B::Processes::send(&receiver, sent));
                let latency = taken.recv().expect("the receiver lives");
                latencies.push(latency.as_secs_f64() * 1e6);
            }
        });
        latencies
    })
}
