//! Fork/join: recursions whose leaves are nothing, and some whose leaves are very unequal.
//!
//! All programs have one text (`fork_join/programs.rs`), and the floor is that text without forks.
//! chili's threads are its pool's and the caller, which takes part; so a pool of as many threads
//! has one less of its own.

mod programs;
mod spawns;

use std::cell::LazyCell;
use std::hint::black_box;
use std::num::NonZero;
use std::sync::LazyLock;
use std::time::Duration;

use filch_fork_join::Pool;

use self::programs::{
    Layout, Node, Rayon, Sequential, ThreadLocal, chili as on_chili, filch, forks_of_fib, lace,
    rayon as on_rayon, sequential, thread_local,
};
use crate::harness::{Effort, Scenario, per_operation, time};
use crate::rivals::{WORKERS, rayon_pool_of};

/// The argument of the recursion that does nothing but fork.
const FIB: u32 = 35;

/// The root of an unbalanced tree.
const ROOT: u64 = 42;

/// The depth of the tree of 16 million nodes.
const DEPTH: u32 = 24;

/// A round of a contender: so many operations, of a program whose result is known.
macro_rules! round {
    ($threads:expr, $operations:expr, $expected:expr, $make:expr, $run:expr) => {{
        let (threads, operations, expected) = ($threads, $operations, $expected);
        let pool = LazyCell::new(move || $make(threads));
        move || {
            let pool = &*pool;
            let elapsed = time(|| assert_eq!(black_box($run(pool)), expected));
            per_operation(elapsed, operations)
        }
    }};
}

/// The contenders that have all programs, for one of them and its arguments.
macro_rules! scenario {
    ($name:expr, $unit:literal, $threads:expr, $operations:expr, $expected:expr,
     $program:ident($($argument:expr),*)) => {{
        let (threads, operations, expected) = ($threads, $operations, $expected);
        Scenario::new(format!("{}, threads: {threads}", $name), $unit)
            .contender(
                "filch-fork-join",
                round!(threads, operations, expected, pool, |pool: &Pool| {
                    pool.install(|worker| filch::$program(worker, $($argument),*))
                }),
            )
            .contender(
                "filch-fork-join, thread-local",
                round!(threads, operations, expected, pool, |pool: &Pool| {
                    pool.install(|_| thread_local::$program(ThreadLocal, $($argument),*))
                }),
            )
            .contender(
                "chili",
                round!(threads, operations, expected, chili_pool, |pool: &chili::ThreadPool| {
                    on_chili::$program(&mut pool.scope(), $($argument),*)
                }),
            )
            .contender(
                "rayon",
                round!(threads, operations, expected, rayon_pool_of, |pool: &rayon::ThreadPool| {
                    pool.install(|| on_rayon::$program(Rayon, $($argument),*))
                }),
            )
            .floor(
                "sequential",
                round!((), operations, expected, |()| (), |(): &()| {
                    sequential::$program(Sequential, $($argument),*)
                }),
            )
    }};
}

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    [1, WORKERS]
        .into_iter()
        .flat_map(|threads| on(threads, effort))
        .collect()
}

fn on(threads: usize, effort: Effort) -> Vec<Scenario> {
    // A quick run divides the work, and not the depth of a recursion by the same number.
    let full = effort.operations(8) == 8;
    let n = if full { FIB } else { FIB - 5 };
    let forks = forks_of_fib(n);
    let fib = sequential::fib(Sequential, n);
    let depth = if full { DEPTH } else { DEPTH - 6 };
    let nodes = (1 << depth) - 1;
    let tree = |layout| -> &'static LazyLock<Node, _> {
        Box::leak(Box::new(LazyLock::new(move || Node::full(depth, layout))))
    };
    let (to_the_right, to_the_left) = (tree(Layout::LeftToRight), tree(Layout::RightToLeft));
    let crooked = sequential::unbalanced(Sequential, ROOT);
    let leaves = effort.operations(200_000);
    let long = Duration::from_millis(20);
    let mut scenarios = vec![
        scenario!(
            format!("fib({n})"),
            "ns per fork",
            threads,
            forks,
            fib,
            fib(n)
        )
        .contender("lace", move || {
            per_operation(lace::timed_fib(threads, n, fib), forks)
        }),
        scenario!(
            format!("fib({n}), moved"),
            "ns per fork",
            threads,
            forks,
            fib,
            fib_moved(n)
        ),
        scenario!("11 queens", "us", threads, 1_000, 2_680, queens(11)),
        scenario!("13 queens", "us", threads, 1_000, 73_712, queens(13)),
        scenario!(
            format!("tree of {nodes} nodes, left to right"),
            "ns per node",
            threads,
            nodes,
            nodes,
            sum(to_the_right)
        ),
        scenario!(
            format!("tree of {nodes} nodes, right to left"),
            "ns per node",
            threads,
            nodes,
            nodes,
            sum(to_the_left)
        ),
        scenario!(
            "unbalanced tree",
            "ns per node",
            threads,
            crooked,
            crooked,
            unbalanced(ROOT)
        ),
        scenario!(
            "leaves of 100 ns and 1 ms",
            "ns per leaf",
            threads,
            leaves,
            leaves,
            skewed(0..leaves)
        ),
    ];
    scenarios.extend(spawns::scenarios(threads, effort));
    if threads > 1 {
        scenarios.extend([
            scenario!(
                "20 ms before 10 000 jobs",
                "us",
                threads,
                1_000,
                10_001,
                beside_a_leaf(long, true)
            ),
            scenario!(
                "20 ms behind 10 000 jobs",
                "us",
                threads,
                1_000,
                10_001,
                beside_a_leaf(long, false)
            ),
            scenario!(
                "20 jobs of 1 ms above 20 ms",
                "us",
                threads,
                1_000,
                21,
                chain(20, long)
            ),
        ]);
    }
    scenarios
}

fn pool(threads: usize) -> Pool {
    Pool::new(threads).expect("the system gives threads")
}

fn chili_pool(threads: usize) -> chili::ThreadPool {
    chili::ThreadPool::with_config(chili::Config {
        thread_count: NonZero::new(threads),
        ..chili::Config::default()
    })
}
