//! The programs, once for each way to fork: their texts differ in what `worker` is, and in nothing
//! else.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::uts;
use super::ways::{Rayon, Sequential, ThreadLocal};

/// Calls that come before `fib(n)` is known: of two that fork one.
pub(super) fn forks_of_fib(n: u32) -> u64 {
    let (mut before, mut last) = (0_u64, 0_u64);
    for _ in 1..n {
        (before, last) = (last, before + last + 1);
    }
    last
}

/// A node of a binary tree.
pub(super) struct Node {
    pub(super) value: u64,
    pub(super) below: Option<Box<[Node; 2]>>,
}

impl Node {
    /// A tree of `2^depth - 1` nodes, whose values are 1. It lies in memory as a walk from left to
    /// right meets it, parents before their children: that decides more than the way to fork does.
    /// A contender that runs the second branch first meets it backwards.
    pub(super) fn full(depth: u32) -> Self {
        let leaf = || Self {
            value: 1,
            below: None,
        };
        let mut node = leaf();
        if depth > 1 {
            // Before what is in it.
            let [left, right] = &mut **node.below.insert(Box::new([leaf(), leaf()]));
            *left = Self::full(depth - 1);
            *right = Self::full(depth - 1);
        }
        node
    }
}

/// The next number of a stream that looks random (`SplitMix64`: Steele, Lea and Flood, OOPSLA
/// 2014).
pub(super) fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A problem's result, or two smaller problems.
enum Parts<P, R> {
    Whole(R),
    Two(P, P),
}

fn parts_of_fib(n: u32) -> Parts<u32, u64> {
    match n {
        0 | 1 => Parts::Whole(n.into()),
        _ => Parts::Two(n - 1, n - 2),
    }
}

/// Children of a node of an unbalanced tree: 8 with a probability of 0.1245, as the binomial trees
/// of UTS (Olivier and others, LCPC 2006) have them; so most subtrees are tiny and a few large.
pub(super) fn children(seed: u64) -> u64 {
    if mixed(seed) % 10_000 < 1_245 { 8 } else { 0 }
}

/// Arithmetic for so long.
pub(super) fn spin(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        (0..64_u64).for_each(|number| {
            black_box(number);
        });
    }
}

/// Some 100 ns.
fn short_leaf() {
    (0..150_u64).for_each(|number| {
        black_box(number);
    });
}

macro_rules! programs {
    ($way:ident, $worker:ty) => {
        pub(super) mod $way {
            use std::ops::Range;
            use std::time::Duration;

            use super::*;

            pub(in super::super) fn fib(worker: $worker, n: u32) -> u64 {
                if n < 2 {
                    return n.into();
                }
                let (a, b) = worker.join(|w| fib(w, n - 1), |w| fib(w, n - 2));
                a + b
            }

            pub(in super::super) fn fib_moved(worker: $worker, n: u32) -> u64 {
                if n < 2 {
                    return n.into();
                }
                let (a, b) =
                    worker.join(move |w| fib_moved(w, n - 1), move |w| fib_moved(w, n - 2));
                a + b
            }

            /// The recursion of a library: it knows nothing of the problem.
            pub(in super::super) fn fib_generic(worker: $worker, n: u32) -> u64 {
                divide(worker, n, &parts_of_fib, &|a, b| a + b)
            }

            fn divide<P: Send, R: Send>(
                worker: $worker,
                problem: P,
                parts: &(impl Fn(P) -> Parts<P, R> + Sync),
                merge: &(impl Fn(R, R) -> R + Sync),
            ) -> R {
                match parts(problem) {
                    Parts::Whole(result) => result,
                    Parts::Two(a, b) => {
                        let (a, b) = worker.join(
                            move |w| divide(w, a, parts, merge),
                            move |w| divide(w, b, parts, merge),
                        );
                        merge(a, b)
                    }
                }
            }

            /// Counts the ways in which so many queens stand on the columns that are left.
            pub(in super::super) fn queens(worker: $worker, size: u32) -> u64 {
                row(worker, (1 << size) - 1, 0, 0, 0)
            }

            fn row(worker: $worker, all: u32, columns: u32, left: u32, right: u32) -> u64 {
                if columns == all {
                    return 1;
                }
                let free = all & !(columns | left | right);
                places(worker, all, [columns, left, right], free)
            }

            fn places(worker: $worker, all: u32, taken: [u32; 3], free: u32) -> u64 {
                let place = free & free.wrapping_neg();
                let rest = free ^ place;
                let [columns, left, right] = taken.map(|taken| taken | place);
                match (place, rest) {
                    (0, _) => 0,
                    (_, 0) => row(worker, all, columns, left << 1 & all, right >> 1),
                    _ => {
                        let (a, b) = worker.join(
                            move |w| row(w, all, columns, left << 1 & all, right >> 1),
                            move |w| places(w, all, taken, rest),
                        );
                        a + b
                    }
                }
            }

            pub(in super::super) fn sum(worker: $worker, node: &Node) -> u64 {
                let Some(below) = &node.below else {
                    return node.value;
                };
                let [left, right] = &**below;
                let (a, b) = worker.join(|w| sum(w, left), |w| sum(w, right));
                node.value + a + b
            }

            /// The nodes of an unbalanced tree, whose root has 2 000 children.
            pub(in super::super) fn unbalanced(worker: $worker, root: u64) -> u64 {
                1 + siblings(worker, root, 0..2_000)
            }

            fn siblings(worker: $worker, seed: u64, among: Range<u64>) -> u64 {
                let middle = among.start.midpoint(among.end);
                match among.end - among.start {
                    0 => 0,
                    1 => {
                        let node = mixed(seed ^ among.start);
                        1 + siblings(worker, node, 0..children(node))
                    }
                    _ => {
                        let (a, b) = worker.join(
                            |w| siblings(w, seed, among.start..middle),
                            |w| siblings(w, seed, middle..among.end),
                        );
                        a + b
                    }
                }
            }

            pub(in super::super) fn unbalanced_moved(worker: $worker, root: u64) -> u64 {
                1 + siblings_moved(worker, root, 0..2_000)
            }

            fn siblings_moved(worker: $worker, seed: u64, among: Range<u64>) -> u64 {
                let middle = among.start.midpoint(among.end);
                match among.end - among.start {
                    0 => 0,
                    1 => {
                        let node = mixed(seed ^ among.start);
                        1 + siblings_moved(worker, node, 0..children(node))
                    }
                    _ => {
                        let (a, b) = worker.join(
                            move |w| siblings_moved(w, seed, among.start..middle),
                            move |w| siblings_moved(w, seed, middle..among.end),
                        );
                        a + b
                    }
                }
            }

            /// The nodes of a tree of UTS.
            pub(in super::super) fn search(worker: $worker, tree: &uts::Tree) -> u64 {
                let root = tree.root();
                1 + offspring(worker, tree, &root, 0..tree.children(&root))
            }

            fn offspring(
                worker: $worker,
                tree: &uts::Tree,
                parent: &uts::Node,
                among: Range<u32>,
            ) -> u64 {
                let middle = among.start.midpoint(among.end);
                match among.end - among.start {
                    0 => 0,
                    1 => {
                        let node = parent.child(among.start);
                        1 + offspring(worker, tree, &node, 0..tree.children(&node))
                    }
                    _ => {
                        let (a, b) = worker.join(
                            move |w| offspring(w, tree, parent, among.start..middle),
                            move |w| offspring(w, tree, parent, middle..among.end),
                        );
                        a + b
                    }
                }
            }

            /// Computes so many leaves, one in 1 000 taking a millisecond and the others 100 ns.
            pub(in super::super) fn skewed(worker: $worker, leaves: Range<u64>) -> u64 {
                let middle = leaves.start.midpoint(leaves.end);
                if leaves.end - leaves.start > 1 {
                    let (a, b) = worker.join(
                        |w| skewed(w, leaves.start..middle),
                        |w| skewed(w, middle..leaves.end),
                    );
                    return a + b;
                }
                match mixed(leaves.start) % 1_000 {
                    0 => spin(Duration::from_millis(1)),
                    _ => short_leaf(),
                }
                1
            }

            /// A leaf of `long`, and 10 000 small jobs that were forked before it or after it.
            pub(in super::super) fn beside_a_leaf(
                worker: $worker,
                long: Duration,
                leaf_first: bool,
            ) -> u64 {
                let leaf = move |_: $worker| {
                    spin(long);
                    1
                };
                let (a, b) = match leaf_first {
                    true => worker.join(leaf, |w| small(w, 10_000)),
                    false => worker.join(|w| small(w, 10_000), leaf),
                };
                a + b
            }

            fn small(worker: $worker, jobs: u64) -> u64 {
                if jobs == 1 {
                    short_leaf();
                    return 1;
                }
                let (a, b) = worker.join(|w| small(w, jobs / 2), |w| small(w, jobs - jobs / 2));
                a + b
            }

            /// `jobs` of a millisecond, each forked under the one before; at the bottom a leaf.
            pub(in super::super) fn chain(worker: $worker, jobs: u64, leaf: Duration) -> u64 {
                if jobs == 0 {
                    spin(leaf);
                    return 1;
                }
                let job = |_: $worker| {
                    spin(Duration::from_millis(1));
                    1
                };
                let (a, b) = worker.join(|w| chain(w, jobs - 1, leaf), job);
                a + b
            }
        }
    };
}

programs!(filch, &filch_fork_join::Worker);
programs!(thread_local, ThreadLocal);
programs!(chili, &mut ::chili::Scope<'_>);
programs!(forte, &::forte::Worker);
programs!(rayon, Rayon);
programs!(sequential, Sequential);
