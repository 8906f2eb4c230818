//! Fork/join: recursions whose leaves are nothing, and some whose leaves are very unequal.
//!
//! All programs have one text (`fork_join/programs.rs`), and the floor is that text without forks.
//! Only lace's tasks are written anew, as functions.

mod contenders;
pub(crate) mod forte;
mod lace;
pub(crate) mod peak;
mod programs;
mod spawns;
mod tail;
mod timing;
mod uts;
mod ways;

use std::sync::LazyLock;
use std::time::Duration;

use self::contenders::{chili_pool, fib_of_chili_seldom, pool, scenario, sum_of_chili_turned};
use self::programs::{
    Node, chili as on_chili, filch, forks_of_fib, rayon as on_rayon, sequential, spin, thread_local,
};
use self::timing::{each, timed};
use self::uts::{Shape, Tree};
use self::ways::{Rayon, Sequential, ThreadLocal};
use crate::harness::{Effort, Scenario, keeping};
use crate::pools::rayon_pool;
use crate::workers::{WORKERS, those_or};

/// The argument of the recursion that does nothing but fork.
const FIB: u32 = 35;

/// The root of an unbalanced tree.
const ROOT: u64 = 42;

/// The depth of the tree of 16 million nodes.
const DEPTH: u32 = 24;

/// A leaf that is long beside the others.
const LONG: Duration = Duration::from_millis(20);

const THREAD_LOCAL: &str = "filch-fork-join, thread-local";

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let all = those_or(&[1, WORKERS]).into_iter().flat_map(|threads| {
        let mut scenarios = forks_alone(threads, effort);
        scenarios.extend(trees(threads, effort));
        scenarios.extend(spawns::scenarios(threads, effort));
        if threads > 1 {
            scenarios.extend(skewed(threads, effort));
        }
        scenarios.extend(peak::scenarios(threads, fib_of(effort), depth_of(effort)));
        scenarios
    });
    let tails = those_or(&tail::THREADS).into_iter();
    all.chain(tails.flat_map(|threads| tail::scenarios(threads, effort)))
        .collect()
}

/// A scenario of so many threads.
fn of(name: &str, threads: usize, unit: &'static str) -> Scenario {
    let titled = format!("{name}, threads: {threads}");
    Scenario::new(titled, unit).on_curve(name, threads)
}

/// A quick run divides the work, and not the depth of a recursion by the same number.
fn fib_of(effort: Effort) -> u32 {
    if effort.is_full() { FIB } else { FIB - 5 }
}

fn depth_of(effort: Effort) -> u32 {
    if effort.is_full() { DEPTH } else { DEPTH - 6 }
}

/// fib in three forms, and n queens.
fn forks_alone(threads: usize, effort: Effort) -> Vec<Scenario> {
    let n = fib_of(effort);
    let forks = forks_of_fib(n);
    let fib = sequential::fib(Sequential, n);
    let lace = move |scenario: Scenario| {
        scenario
            .contender("lace", move || lace::timed_fib(threads, n, forks, fib))
            .contender("lace, turned", move || {
                lace::timed_fib_turned(threads, n, forks, fib)
            })
    };
    let forte = |program| forte::figure(program, n.into(), threads);
    let by_reference = scenario!(
        format!("fib({n})"), "ns per fork",
        threads, forks, fib,
        contender by timed, fib(n)
    )
    .contender("forte", forte("fib"));
    let moved = scenario!(
        format!("fib({n}), moved"), "ns per fork",
        threads, forks, fib,
        contender by timed, fib_moved(n)
    )
    .contender(
        "chili, every 255th",
        keeping(
            move || chili_pool(threads),
            move |pool| timed(forks, fib, || fib_of_chili_seldom(&mut pool.scope(), n)),
        ),
    )
    .contender("forte", forte("fib_moved"))
    .contender("forte, thread-local", forte("fib_local"));
    let generic = scenario!(
        format!("fib({n}), generic"), "ns per fork",
        threads, forks, fib,
        contender by timed, fib_generic(n)
    )
    .contender("forte", forte("fib_generic"));
    let queens = [(11, 2_680), (13, 73_712)].map(|(size, ways)| {
        scenario!(
            format!("{size} queens"), "us",
            threads, 1_000, ways,
            contender by timed, queens(size)
        )
        .contender("forte", forte::figure("queens", size.into(), threads))
    });
    let fibs = [by_reference, moved, generic].map(lace);
    fibs.into_iter().chain(queens).collect()
}

/// A tree in memory, walked along memory and against it, and trees that nobody knows before they
/// are walked.
fn trees(threads: usize, effort: Effort) -> Vec<Scenario> {
    let depth = depth_of(effort);
    let nodes = (1 << depth) - 1;
    let tree: &'static LazyLock<Node, _> =
        Box::leak(Box::new(LazyLock::new(move || Node::full(depth))));
    let crooked = sequential::unbalanced(Sequential, ROOT);
    let lace = move || lace::timed_unbalanced(threads, ROOT, crooked);
    let mut all = vec![
        scenario!(
            format!("tree of {nodes} nodes"), "ns per node",
            threads, nodes, nodes,
            contender by timed, sum(tree)
        )
        .contender(
            "chili, turned",
            keeping(
                move || chili_pool(threads),
                move |pool| {
                    timed(nodes, nodes, || {
                        sum_of_chili_turned(&mut pool.scope(), tree)
                    })
                },
            ),
        ),
        scenario!(
            "unbalanced tree", "ns per node",
            threads, crooked, crooked,
            contender by timed, unbalanced(ROOT)
        )
        .contender("forte", forte::figure("unbalanced", ROOT, threads))
        .contender("lace", lace),
        scenario!(
            "unbalanced tree, moved", "ns per node",
            threads, crooked, crooked,
            contender by timed, unbalanced_moved(ROOT)
        )
        .contender("forte", forte::figure("unbalanced_moved", ROOT, threads))
        .contender("lace", lace),
    ];
    for (number, kind) in ["geometric", "binomial"].into_iter().enumerate() {
        let (tree, nodes) = &SEARCHED[number];
        all.push(
            scenario!(
                format!("UTS, {kind}"), "ns per node",
                threads, *nodes, *nodes,
                contender by timed, search(tree)
            )
            .contender("forte", forte::figure("search", number as u64, threads))
            .contender("lace", move || lace::timed_search(threads, tree, *nodes)),
        );
    }
    all
}

/// The trees of UTS that are measured, and their nodes: smaller than those of its authors.
static SEARCHED: [(Tree, u64); 2] = [
    (
        Tree {
            shape: Shape::Geometric {
                branching: 4.0,
                depth: 8,
            },
            seed: 19,
        },
        257_042,
    ),
    (
        Tree {
            shape: Shape::Binomial {
                root: 2_000,
                children: 8,
                probability: 0.1235,
            },
            seed: 42,
        },
        391_273,
    ),
];

/// Leaves of very unequal length: how well does a thread that has nothing to do find what there is?
fn skewed(threads: usize, effort: Effort) -> Vec<Scenario> {
    let leaves = effort.operations(200_000);
    let in_us = 1_000;
    let unequal = scenario!(
        "leaves of 100 ns and 1 ms", "ns per leaf",
        threads, leaves, leaves,
        latencies by each, skewed(0..leaves)
    )
    .latencies("forte", forte::figures("skewed", leaves, threads));
    let beside = ["before", "behind"].map(|place| {
        scenario!(
            format!("20 ms {place} 10 000 jobs"), "us",
            threads, in_us, 10_001,
            latencies by each, beside_a_leaf(LONG, place == "before")
        )
        .latencies("forte", forte::figures(place, 0, threads))
        .floor("the leaf", move || timed(in_us, (), || spin(LONG)))
    });
    let chain = scenario!(
        "20 jobs of 1 ms above 20 ms", "us",
        threads, in_us, 21,
        latencies by each, chain(20, LONG)
    )
    .latencies("forte", forte::figures("chain", 20, threads));
    [unequal].into_iter().chain(beside).chain([chain]).collect()
}
