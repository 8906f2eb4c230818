//! Fork/join: recursions whose leaves are nothing, and some whose leaves are very unequal.
//!
//! All programs have one text (`fork_join/programs.rs`), and the floor is that text without forks.
//! Only lace's tasks are written anew, as functions.

mod contenders;
mod forte;
mod lace;
mod peak;
mod programs;
mod spawns;
mod tail;
mod timing;
mod uts;
mod ways;

use std::cell::LazyCell;
use std::iter;
use std::sync::LazyLock;
use std::time::Duration;

use self::contenders::{chili_pool, fib_of_chili_seldom, pool, scenario, sum_of_chili_turned};
use self::programs::{
    Node, chili as on_chili, filch, forks_of_fib, rayon as on_rayon, sequential, spin, thread_local,
};
use self::timing::{each, timed};
use self::uts::{Shape, Tree};
use self::ways::{Rayon, Sequential, ThreadLocal};
use crate::bar::Bar;
use crate::harness::{Effort, Scenario};
use crate::rivals::{WORKERS, rayon_pool_of};

/// The argument of the recursion that does nothing but fork.
const FIB: u32 = 35;

/// The root of an unbalanced tree.
const ROOT: u64 = 42;

/// The depth of the tree of 16 million nodes.
const DEPTH: u32 = 24;

/// A leaf that is long beside the others.
const LONG: Duration = Duration::from_millis(20);

const OURS: &str = "filch-fork-join";
const THREAD_LOCAL: &str = "filch-fork-join, thread-local";
/// What stands beside a row of a long leaf: the leaf.
const LEAF: &str = "the leaf";

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let all = [1, WORKERS].into_iter().flat_map(|threads| {
        let mut scenarios = forks_alone(threads, effort);
        scenarios.extend(trees(threads, effort));
        scenarios.extend(spawns::scenarios(threads, effort));
        if threads > 1 {
            scenarios.extend(skewed(threads, effort));
        }
        scenarios.extend(peak::scenarios(threads, fib_of(effort), depth_of(effort)));
        scenarios
    });
    let tails = tail::THREADS.into_iter();
    all.chain(tails.flat_map(|threads| tail::scenarios(threads, effort)))
        .collect()
}

/// The rows that a curve over the number of threads is about.
pub(crate) fn curve(threads: usize, effort: Effort) -> Vec<(&'static str, Scenario)> {
    let kinds = [
        ("fib, moved", "fib("),
        ("13 queens", "13 queens"),
        ("unbalanced tree, moved", "unbalanced tree, moved"),
        ("UTS, binomial", "UTS, binomial"),
        ("tree", "tree of"),
        ("scope of 10000 empty jobs", "scope of 10000 empty jobs"),
        ("leaves of 100 ns and 1 ms", "leaves of"),
        ("peak memory of fib", "peak memory of fib"),
        ("equal items that sleep", "equal items"),
        ("heavy-tailed items that sleep", "heavy-tailed items"),
    ];
    let rows = forks_alone(threads, effort)
        .into_iter()
        .chain(trees(threads, effort))
        .chain(spawns::scenarios(threads, effort))
        .chain(skewed(threads, effort))
        .chain(peak::scenarios(threads, fib_of(effort), depth_of(effort)))
        .chain(tail::scenarios(threads, effort));
    let of_curve = rows.filter_map(|row| {
        let belongs = |(kind, name): &(&str, &str)| {
            row.name().starts_with(name)
                && (!kind.contains("moved") || row.name().contains("moved"))
        };
        let (kind, _) = kinds.into_iter().find(belongs)?;
        Some((kind, row))
    });
    of_curve.collect()
}

/// What `contender` adds with `program`, once, to the memory that is resident: for a program of its
/// own. In KiB.
///
/// # Panics
/// If the size or the threads are no numbers.
pub(crate) fn peak(contender: &str, program: &str, size: &str, threads: &str) -> f64 {
    let size = size.parse().expect("a number");
    let threads = threads.parse().expect("a number");
    peak::raised(contender, program, size, threads)
}

/// The figures of a turn of forte's: for a program of its own.
///
/// # Panics
/// If the size or the threads are no numbers, or there is no such program.
pub(crate) fn forte_turn(program: &str, size: &str, threads: &str) -> Vec<f64> {
    let size = size.parse().expect("a number");
    let threads = threads.parse().expect("a number");
    forte::here(program, size, threads)
}

fn is_full(effort: Effort) -> bool {
    effort.operations(8) == 8
}

/// A quick run divides the work, and not the depth of a recursion by the same number.
fn fib_of(effort: Effort) -> u32 {
    if is_full(effort) { FIB } else { FIB - 5 }
}

fn depth_of(effort: Effort) -> u32 {
    if is_full(effort) { DEPTH } else { DEPTH - 6 }
}

/// fib in four forms, and n queens.
fn forks_alone(threads: usize, effort: Effort) -> Vec<Scenario> {
    let n = fib_of(effort);
    let forks = forks_of_fib(n);
    let fib = sequential::fib(Sequential, n);
    let with_bars = move |scenario: Scenario| {
        let scenario = scenario
            .contender("lace", move || lace::timed_fib(threads, n, forks, fib))
            .contender("lace, turned", move || {
                lace::timed_fib_turned(threads, n, forks, fib)
            })
            .bar(Bar::plus(THREAD_LOCAL, 0.3, &[OURS]));
        match threads {
            1 => scenario
                .bar(Bar::times(OURS, 1.0, &["chili"]))
                .bar(Bar::times(OURS, 1.7, &["sequential"])),
            _ => scenario.bar(Bar::times(OURS, 0.9, &["chili", "lace", "lace, turned"])),
        }
    };
    let unit_of_queens = 1_000;
    let queens = [
        scenario!(
            "11 queens", "us",
            threads, unit_of_queens, 2_680,
            contender by timed, queens(11)
        )
        .contender("forte", forte::figure("queens", 11, threads)),
        scenario!(
            "13 queens", "us",
            threads, unit_of_queens, 73_712,
            contender by timed, queens(13)
        )
        .contender("forte", forte::figure("queens", 13, threads)),
    ];
    let queens = queens.map(|scenario| match threads {
        1 => scenario,
        _ => scenario.bar(Bar::times(OURS, 0.6, &["chili"])),
    });
    let by_reference = scenario!(
        format!("fib({n})"), "ns per fork",
        threads, forks, fib,
        contender by timed, fib(n)
    )
    .contender("forte", forte::figure("fib", n.into(), threads));
    let moved = scenario!(
        format!("fib({n}), moved"), "ns per fork",
        threads, forks, fib,
        contender by timed, fib_moved(n)
    );
    let generic = scenario!(
        format!("fib({n}), generic"), "ns per fork",
        threads, forks, fib,
        contender by timed, fib_generic(n)
    )
    .contender("forte", forte::figure("fib_generic", n.into(), threads));
    let moved = moved
        .contender("chili, every 255th", {
            let pool = LazyCell::new(move || chili_pool(threads));
            move || timed(forks, fib, || fib_of_chili_seldom(&mut pool.scope(), n))
        })
        .contender("forte", forte::figure("fib_moved", n.into(), threads))
        .contender(
            "forte, thread-local",
            forte::figure("fib_local", n.into(), threads),
        );
    [by_reference, moved, generic]
        .map(with_bars)
        .into_iter()
        .chain(queens)
        .collect()
}

/// A tree in memory, walked along memory and against it, and trees that nobody knows before they
/// are walked.
fn trees(threads: usize, effort: Effort) -> Vec<Scenario> {
    const OTHERS: &[&str] = &["chili", "rayon", "forte", "lace"];
    let depth = depth_of(effort);
    let nodes = (1 << depth) - 1;
    let tree: &'static LazyLock<Node, _> =
        Box::leak(Box::new(LazyLock::new(move || Node::full(depth))));
    let crooked = sequential::unbalanced(Sequential, ROOT);
    let (geometric, binomial) = (
        searched(|[(tree, _), _]| tree),
        searched(|[_, (tree, _)]| tree),
    );
    let [(_, of_geometric), (_, of_binomial)] = SEARCHED;
    let sum = scenario!(
        format!("tree of {nodes} nodes"), "ns per node",
        threads, nodes, nodes,
        contender by timed, sum(tree)
    )
    .contender("chili, turned", {
        let pool = LazyCell::new(move || chili_pool(threads));
        move || {
            timed(nodes, nodes, || {
                sum_of_chili_turned(&mut pool.scope(), tree)
            })
        }
    })
    .bar(Bar::times(OURS, 1.0, &["chili", "chili, turned"]));
    let unbalanced = [
        scenario!(
            "unbalanced tree", "ns per node",
            threads, crooked, crooked,
            contender by timed, unbalanced(ROOT)
        )
        .contender("forte", forte::figure("unbalanced", ROOT, threads)),
        scenario!(
            "unbalanced tree, moved", "ns per node",
            threads, crooked, crooked,
            contender by timed, unbalanced_moved(ROOT)
        )
        .contender("forte", forte::figure("unbalanced_moved", ROOT, threads)),
    ];
    let unbalanced = unbalanced.map(|scenario| {
        scenario.contender("lace", move || {
            lace::timed_unbalanced(threads, ROOT, crooked)
        })
    });
    let uts = [
        scenario!(
            "UTS, geometric", "ns per node",
            threads, of_geometric, of_geometric,
            contender by timed, search(geometric)
        )
        .contender("forte", forte::figure("search", 0, threads))
        .contender("lace", move || {
            lace::timed_search(threads, geometric, of_geometric)
        }),
        scenario!(
            "UTS, binomial", "ns per node",
            threads, of_binomial, of_binomial,
            contender by timed, search(binomial)
        )
        .contender("forte", forte::figure("search", 1, threads))
        .contender("lace", move || {
            lace::timed_search(threads, binomial, of_binomial)
        }),
    ];
    let others = unbalanced
        .into_iter()
        .chain(uts)
        .map(|scenario| scenario.bar(Bar::times(OURS, 1.0, OTHERS)));
    iter::once(sum).chain(others).collect()
}

/// The trees of UTS that are measured, and their nodes: smaller than those of its authors.
const SEARCHED: [(Tree, u64); 2] = [
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

/// One of these. Before the first is walked, those whose size is published are.
fn searched(which: fn([(Tree, u64); 2]) -> Tree) -> &'static LazyLock<Tree, impl FnOnce() -> Tree> {
    static CHECKED: LazyLock<()> =
        LazyLock::new(|| uts::check(|tree| sequential::search(Sequential, tree)));
    Box::leak(Box::new(LazyLock::new(move || {
        LazyLock::force(&CHECKED);
        which(SEARCHED)
    })))
}

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
    let beside = [
        scenario!(
            "20 ms before 10 000 jobs", "us",
            threads, in_us, 10_001,
            latencies by each, beside_a_leaf(LONG, true)
        )
        .latencies("forte", forte::figures("before", 0, threads)),
        scenario!(
            "20 ms behind 10 000 jobs", "us",
            threads, in_us, 10_001,
            latencies by each, beside_a_leaf(LONG, false)
        )
        .latencies("forte", forte::figures("behind", 0, threads)),
    ];
    let chain = scenario!(
        "20 jobs of 1 ms above 20 ms", "us",
        threads, in_us, 21,
        latencies by each, chain(20, LONG)
    )
    .latencies("forte", forte::figures("chain", 20, threads));
    let beside = beside.map(|scenario| {
        scenario
            .floor(LEAF, move || timed(in_us, (), || spin(LONG)))
            .bar(Bar::times(OURS, 1.01, &[LEAF]))
    });
    let unequal = unequal.bar(Bar::times(OURS, 1.0, &["chili", "rayon"]));
    let chain = chain.bar(Bar::times(OURS, 1.25, &["rayon"]));
    [unequal].into_iter().chain(beside).chain([chain]).collect()
}
