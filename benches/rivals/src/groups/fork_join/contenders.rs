//! The pools, each asked for a number of threads that work: those of chili are its own and the
//! caller, which takes part; so are forte's and lace's. And the timing of a turn.

use std::hint::black_box;
use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use filch_fork_join::{Config, Pool};
use lace_ws::Lace;

use super::programs::{
    Kind, Program, Rayon, Sequential, ThreadLocal, chili as on_chili, filch, forte as on_forte,
    rayon as on_rayon, sequential, thread_local, tree,
};
use super::{OURS, SEQUENTIAL, THREAD_LOCAL, WITH_CALLER, lace};
use crate::clock::{per_operation, time};
use crate::harness::keeping;
use crate::pools::Threads;
use crate::{alone, memory};

/// Calls a program as often as it has to, and returns its figures.
type Clock = fn(Program, &mut dyn FnMut() -> u64) -> Vec<f64>;

/// A pool that runs programs, with a clock around the calls.
type Contender = Box<dyn Fn(Program, Clock) -> Vec<f64>>;

/// The names of those that have this program.
pub(super) fn having(kind: Kind) -> Vec<&'static str> {
    let mut names = vec![OURS, THREAD_LOCAL, "chili", "rayon", SEQUENTIAL, "forte"];
    names.extend(match kind {
        Kind::FibMoved => &["chili, every 255th", "forte, thread-local", "lace"][..],
        Kind::Fib | Kind::Unbalanced | Kind::Search => &["lace"],
        _ => &[],
    });
    names
}

/// A contender whose clock runs outside its pool.
fn plain(run: impl Fn(Program) -> u64 + 'static) -> Contender {
    Box::new(move |program, clock| clock(program, &mut || run(program)))
}

/// Makes the contender of that name.
fn make(name: &str, threads: usize) -> Contender {
    match name {
        OURS => {
            let pool = pool(threads);
            plain(move |program| pool.install(|worker| filch::run(worker, program)))
        }
        WITH_CALLER => {
            let pool = Pool::start(Config::default().threads(threads).with_caller());
            let pool = pool.expect("the system gives threads");
            plain(move |program| pool.install(|worker| filch::run(worker, program)))
        }
        THREAD_LOCAL => {
            let pool = pool(threads);
            plain(move |program| pool.install(|_| thread_local::run(ThreadLocal, program)))
        }
        "rayon" => {
            let pool = rayon::ThreadPool::with_workers(threads);
            plain(move |program| pool.install(|| on_rayon::run(Rayon, program)))
        }
        _ if name.starts_with("chili") => {
            let pool = chili::ThreadPool::with_config(chili::Config {
                thread_count: NonZero::new(threads),
                ..chili::Config::default()
            });
            let run: fn(&mut chili::Scope<'_>, Program) -> u64 = match name {
                "chili, every 255th" => {
                    |scope, Program { size, .. }| fib_of_chili_seldom(scope, size as u32)
                }
                _ => on_chili::run,
            };
            plain(move |program| run(&mut pool.scope(), program))
        }
        "forte, visited" => {
            POOL.resize_to(threads - 1);
            plain(|program| POOL.with_worker(|worker| on_forte::run(worker, program)))
        }
        "forte" => Box::new(move |program, clock| {
            with_forte(threads, |worker| {
                clock(program, &mut || on_forte::run(worker, program))
            })
        }),
        "forte, thread-local" => Box::new(move |program, clock| {
            with_forte(threads, |_| {
                clock(program, &mut || fib_of_forte(program.size as u32))
            })
        }),
        // Its threads spin as long as they live, which is therefore one turn.
        "lace" => Box::new(move |program, clock| {
            let mut pool = Lace::init(threads);
            clock(program, &mut || lace::run(&mut pool, program))
        }),
        SEQUENTIAL => plain(|program| sequential::run(Sequential, program)),
        _ => panic!("no contender is called {name}"),
    }
}

/// A turn of that contender, by the clock of that name.
///
/// forte's is a program of its own: a pool of this version cannot be shrunk (it waits, with its
/// lock in hand, for a thread that wants it), and the threads of one that stays wake up several
/// thousand times a second, beside the other contenders' turns. And a caller that takes part stays
/// in its pool.
pub(super) fn turn(
    what: &'static str,
    name: &'static str,
    threads: usize,
    program: Program,
) -> Box<dyn FnMut() -> Vec<f64>> {
    if name.starts_with("forte") || name == WITH_CALLER {
        return Box::new(move || apart(what, name, threads, program));
    }
    Box::new(keeping(
        move || make(name, threads),
        move |contender| contender(program, clock(what)),
    ))
}

/// The KiB by which that contender raises the peak of resident memory: its threads' stacks as deep
/// as they are used, and what it allocates.
pub(super) fn peak(name: &str, threads: usize, program: Program) -> f64 {
    apart("peak", name, threads, program)[0]
}

fn apart(what: &str, name: &str, threads: usize, Program { kind, size }: Program) -> Vec<f64> {
    let kind = kind.to_possible_value().expect("none is hidden");
    let [threads, size] = [threads as u64, size].map(|number| number.to_string());
    alone::figures(&["fork-join", what, name, kind.get_name(), &size, &threads])
}

/// The figures of the program that runs this.
pub(crate) fn here(what: &str, name: &str, kind: &str, size: u64, threads: usize) -> Vec<f64> {
    let kind = Kind::from_str(kind, false).expect("a program");
    let program = Program { kind, size };
    if what != "peak" {
        return make(name, threads)(program, clock(what));
    }
    if program.kind == Kind::Sum {
        tree(size, 0);
    }
    let before = memory::peak();
    make(name, threads)(program, once);
    vec![(memory::peak() - before) as f64 / 1024.0]
}

fn clock(name: &str) -> Clock {
    match name {
        "timed" => timed,
        "visits" => visits,
        _ => panic!("no clock is called {name}"),
    }
}

pub(super) fn pool(threads: usize) -> Pool {
    Pool::new(threads).expect("the system gives threads")
}

/// chili's fork at its fastest: it looks whether it is to share work at every 255th only.
fn fib_of_chili_seldom(scope: &mut chili::Scope<'_>, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = scope.join_with_heartbeat_every::<255, _, _, _, _>(
        move |s| fib_of_chili_seldom(s, n - 1),
        move |s| fib_of_chili_seldom(s, n - 2),
    );
    a + b
}

/// forte's pool.
static POOL: forte::ThreadPool = forte::ThreadPool::new();

/// Calls `call` with a worker of a pool of so many threads, the caller among them. The others stay.
fn with_forte<R>(threads: usize, call: impl FnOnce(&forte::Worker) -> R) -> R {
    POOL.resize_to(threads - 1);
    POOL.with_worker(call)
}

/// Computes by its fork, without a worker in the hand.
fn fib_of_forte(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = forte::join(move |_| fib_of_forte(n - 1), move |_| fib_of_forte(n - 2));
    a + b
}

/// Work before the clock starts. A thread that has slept for a while may be woken on the core of
/// another one of its pool, and then it takes the system milliseconds to part them: as long as some
/// of these programs take. And while the other contenders have their turns, all threads of a pool
/// sleep.
const WARM_UP: Duration = Duration::from_millis(25);

/// A program that takes less is repeated, and its figure is the mean.
const AT_LEAST: Duration = Duration::from_millis(10);

/// Runs whose times are kept in a turn, if each of them counts.
const RUNS: usize = 5;

/// Measures an operation, in several runs; or in each of a few.
pub(super) fn timed(program: Program, run: &mut dyn FnMut() -> u64) -> Vec<f64> {
    let (operations, expected) = (program.operations(), program.result());
    let mut once = || assert_eq!(black_box(run()), expected);
    let began = Instant::now();
    while began.elapsed() < WARM_UP {
        once();
    }
    if program.counts_each_run() {
        let times = (0..RUNS).map(|_| time(&mut once));
        return times.map(|time| per_operation(time, operations)).collect();
    }
    let (mut runs, began) = (0, Instant::now());
    while runs == 0 || began.elapsed() < AT_LEAST {
        once();
        runs += 1;
    }
    vec![per_operation(began.elapsed(), operations * runs)]
}

/// Visits of a turn.
const VISITS: usize = 50;

/// The time in which all threads of a pool go to sleep.
const REST: Duration = Duration::from_millis(2);

/// Measures each of several runs, before which the pool has gone to sleep.
fn visits(program: Program, run: &mut dyn FnMut() -> u64) -> Vec<f64> {
    let visit = |_| {
        thread::sleep(REST);
        let took = time(|| assert_eq!(black_box(run()), program.result()));
        took.as_secs_f64() * 1e6
    };
    (0..VISITS).map(visit).collect()
}

/// Runs it once, untimed.
pub(super) fn once(program: Program, run: &mut dyn FnMut() -> u64) -> Vec<f64> {
    assert_eq!(run(), program.result());
    Vec::new()
}
