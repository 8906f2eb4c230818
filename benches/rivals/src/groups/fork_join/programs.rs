//! The programs, once for each way to fork: their texts differ in what `worker` is, and in nothing
//! else.

use std::hint::black_box;
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::uts;

/// The root of the unbalanced tree.
pub(super) const ROOT: u64 = 42;

/// A leaf that is long beside the others.
const LONG: Duration = Duration::from_millis(20);

/// A node of a binary tree, and what is below it.
pub(super) struct Node(Option<Box<[Self; 2]>>);

/// The tree of `2^depth - 1` nodes, made by whoever asks first. In memory each node comes before
/// those below it, and of these those of its branch `first` before the others.
pub(super) fn tree(depth: u64, first: usize) -> &'static Node {
    static TREES: [OnceLock<Node>; 2] = [const { OnceLock::new() }; 2];
    fn full(depth: u64, first: usize) -> Node {
        Node((depth > 1).then(|| {
            let mut branches = Box::new([const { Node(None) }; 2]);
            branches[first] = full(depth - 1, first);
            branches[1 - first] = full(depth - 1, first);
            branches
        }))
    }
    TREES[first].get_or_init(|| full(depth, first))
}

/// A program, and its size.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(super) kind: Kind,
    pub(super) size: u64,
}

/// The recursion of a program, and the meaning of its size.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Kind {
    /// Captures by reference. The argument.
    Fib,
    /// Captures that are moved.
    FibMoved,
    /// Queens.
    Queens,
    /// The nodes of a tree that nobody knows before it is walked. No size.
    Unbalanced,
    /// The nodes of the tree of UTS. No size.
    Search,
    /// Leaves of very unequal length. Their number.
    Skewed,
    /// The nodes of a tree in memory. Its depth.
    Sum,
    /// The same, whose second branches come first in memory.
    SumBackwards,
    /// As `Fib`, with the larger part in the second branch.
    FibBackwards,
    /// Small jobs, and a long leaf that is forked behind them. Their number.
    Behind,
    /// Jobs, each forked under the one before, and a long leaf at the bottom. Their number.
    Chain,
}

impl Program {
    /// The number that it has to return.
    pub(super) fn result(self) -> u64 {
        static CROOKED: LazyLock<u64> = LazyLock::new(|| sequential::unbalanced(Sequential, ROOT));
        match self.kind {
            Kind::Fib | Kind::FibMoved | Kind::FibBackwards => {
                (0..self.size).fold((0, 1), |(a, b), _| (b, a + b)).0
            }
            Kind::Queens if self.size == 11 => 2_680,
            Kind::Queens => 73_712,
            Kind::Unbalanced => *CROOKED,
            Kind::Search => uts::NODES,
            Kind::Skewed => self.size,
            Kind::Sum | Kind::SumBackwards => (1 << self.size) - 1,
            Kind::Behind | Kind::Chain => self.size + 1,
        }
    }

    /// The operations of a run; 1000 for a figure in microseconds.
    pub(super) fn operations(self) -> u64 {
        match self.kind {
            Kind::Fib | Kind::FibMoved | Kind::FibBackwards => forks_of_fib(self.size),
            Kind::Unbalanced | Kind::Search | Kind::Skewed | Kind::Sum | Kind::SumBackwards => {
                self.result()
            }
            Kind::Queens | Kind::Behind | Kind::Chain => 1_000,
        }
    }

    /// Returns whether the time of each run counts, and not their mean: an unlucky one takes much
    /// longer.
    pub(super) fn counts_each_run(self) -> bool {
        matches!(self.kind, Kind::Skewed | Kind::Behind | Kind::Chain)
    }
}

/// Calls that come before `fib(n)` is known: of two that fork one.
fn forks_of_fib(n: u64) -> u64 {
    let (mut before, mut last) = (0_u64, 0_u64);
    for _ in 1..n {
        (before, last) = (last, before + last + 1);
    }
    last
}

/// The next number of a stream that looks random (`SplitMix64`: Steele, Lea and Flood, OOPSLA
/// 2014).
pub(super) fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Children of a node of an unbalanced tree: 8 with a probability of 0.1245, as the binomial trees
/// of UTS (Olivier and others, LCPC 2006) have them; so most subtrees are tiny and a few large.
pub(super) fn children(seed: u64) -> u64 {
    if mixed(seed) % 10_000 < 1_245 { 8 } else { 0 }
}

/// Arithmetic for so long.
fn spin(time: Duration) {
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
        pub(crate) mod $way {
            use std::ops::Range;
            use std::time::Duration;

            use super::*;

            pub(crate) fn run(worker: $worker, program: Program) -> u64 {
                let small = program.size as u32;
                match program.kind {
                    Kind::Fib => fib(worker, small),
                    Kind::FibMoved => fib_moved(worker, small),
                    Kind::Queens => row(worker, (1 << small) - 1, 0, 0, 0),
                    Kind::Unbalanced => unbalanced(worker, ROOT),
                    Kind::Search => search(worker, &uts::Node::root()),
                    Kind::Skewed => skewed(worker, 0..program.size),
                    Kind::Sum => sum(worker, tree(program.size, 0)),
                    Kind::SumBackwards => sum(worker, tree(program.size, 1)),
                    Kind::FibBackwards => fib_backwards(worker, small),
                    Kind::Behind => {
                        let (a, b) = worker.join(|w| minor(w, program.size), long_leaf);
                        a + b
                    }
                    Kind::Chain => chain(worker, program.size),
                }
            }

            pub(crate) fn fib(worker: $worker, n: u32) -> u64 {
                if n < 2 {
                    return n.into();
                }
                let (a, b) = worker.join(|w| fib(w, n - 1), |w| fib(w, n - 2));
                a + b
            }

            fn fib_backwards(worker: $worker, n: u32) -> u64 {
                if n < 2 {
                    return n.into();
                }
                let (a, b) = worker.join(|w| fib_backwards(w, n - 2), |w| fib_backwards(w, n - 1));
                a + b
            }

            fn fib_moved(worker: $worker, n: u32) -> u64 {
                if n < 2 {
                    return n.into();
                }
                let (a, b) =
                    worker.join(move |w| fib_moved(w, n - 1), move |w| fib_moved(w, n - 2));
                a + b
            }

            /// Counts the ways in which queens stand on the columns that are left.
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

            /// The nodes of an unbalanced tree, whose root has 2 000 children.
            pub(super) fn unbalanced(worker: $worker, root: u64) -> u64 {
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

            /// The nodes of a tree of UTS.
            fn search(worker: $worker, root: &uts::Node) -> u64 {
                1 + offspring(worker, root, 0..root.children())
            }

            fn offspring(worker: $worker, parent: &uts::Node, among: Range<u32>) -> u64 {
                let middle = among.start.midpoint(among.end);
                match among.end - among.start {
                    0 => 0,
                    1 => search(worker, &parent.child(among.start)),
                    _ => {
                        let (a, b) = worker.join(
                            move |w| offspring(w, parent, among.start..middle),
                            move |w| offspring(w, parent, middle..among.end),
                        );
                        a + b
                    }
                }
            }

            /// Computes so many leaves, one in 1 000 taking a millisecond and the others 100 ns.
            fn skewed(worker: $worker, leaves: Range<u64>) -> u64 {
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

            fn sum(worker: $worker, node: &Node) -> u64 {
                let Some([left, right]) = node.0.as_deref() else {
                    return 1;
                };
                let (a, b) = worker.join(|w| sum(w, left), |w| sum(w, right));
                1 + a + b
            }

            fn long_leaf(_: $worker) -> u64 {
                spin(LONG);
                1
            }

            fn minor(worker: $worker, jobs: u64) -> u64 {
                if jobs == 1 {
                    short_leaf();
                    return 1;
                }
                let (a, b) = worker.join(|w| minor(w, jobs / 2), |w| minor(w, jobs - jobs / 2));
                a + b
            }

            /// `jobs` of a millisecond, each forked under the one before; at the bottom a leaf.
            fn chain(worker: $worker, jobs: u64) -> u64 {
                if jobs == 0 {
                    return long_leaf(worker);
                }
                let job = |_: $worker| {
                    spin(Duration::from_millis(1));
                    1
                };
                let (a, b) = worker.join(|w| chain(w, jobs - 1), job);
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

macro_rules! without_worker {
    ($name:ident, $join:path) => {
        #[doc = concat!("[`", stringify!($join), "`], which finds the worker itself.")]
        #[derive(Clone, Copy)]
        pub(crate) struct $name;

        impl $name {
            #[inline(always)]
            pub(super) fn join<A, B, RA, RB>(self, a: A, b: B) -> (RA, RB)
            where
                A: FnOnce(Self) -> RA + Send,
                B: FnOnce(Self) -> RB + Send,
                RA: Send,
                RB: Send,
            {
                $join(move || a(self), move || b(self))
            }
        }
    };
}

without_worker!(ThreadLocal, filch_fork_join::join);
without_worker!(Rayon, ::rayon::join);

/// One after the other: the floor.
#[derive(Clone, Copy)]
pub(crate) struct Sequential;

impl Sequential {
    #[inline(always)]
    pub(super) fn join<RA, RB>(
        self,
        a: impl FnOnce(Self) -> RA,
        b: impl FnOnce(Self) -> RB,
    ) -> (RA, RB) {
        (a(self), b(self))
    }
}
