//! The programs as lace has them: its tasks are functions with an attribute. It begins with what
//! stands second in a `join!`. Its threads spin as long as they live, which is therefore one turn.

use lace_ws::{Lace, Worker, lace_run, lace_task};

use super::programs::{children, mixed};
use super::timing::timed;
use super::uts::{Node, Tree};

#[lace_task]
fn fib(n: u32) -> u64 {
    if n < 2 {
        u64::from(n)
    } else {
        let (a, b) = join!(fib(n - 1), fib(n - 2));
        a + b
    }
}

/// In the order of the others.
#[lace_task]
fn fib_turned(n: u32) -> u64 {
    if n < 2 {
        u64::from(n)
    } else {
        let (b, a) = join!(fib_turned(n - 2), fib_turned(n - 1));
        a + b
    }
}

#[lace_task]
fn siblings(seed: u64, from: u64, to: u64) -> u64 {
    let middle = from.midpoint(to);
    match to - from {
        0 => 0,
        1 => {
            let node = mixed(seed ^ from);
            1 + call!(siblings(node, 0, children(node)))
        }
        _ => {
            let (b, a) = join!(siblings(seed, middle, to), siblings(seed, from, middle));
            a + b
        }
    }
}

#[lace_task]
fn offspring(tree: &Tree, parent: &Node, from: u32, to: u32) -> u64 {
    let middle = from.midpoint(to);
    match to - from {
        0 => 0,
        1 => {
            let node = parent.child(from);
            1 + call!(offspring(tree, &node, 0, tree.children(&node)))
        }
        _ => {
            let (b, a) = join!(
                offspring(tree, parent, middle, to),
                offspring(tree, parent, from, middle)
            );
            a + b
        }
    }
}

pub(super) fn timed_fib(threads: usize, n: u32, operations: u64, expected: u64) -> f64 {
    let mut lace = Lace::init(threads);
    timed(operations, expected, || lace_run!(lace, fib(n)))
}

pub(super) fn timed_fib_turned(threads: usize, n: u32, operations: u64, expected: u64) -> f64 {
    let mut lace = Lace::init(threads);
    timed(operations, expected, || lace_run!(lace, fib_turned(n)))
}

pub(super) fn timed_unbalanced(threads: usize, root: u64, expected: u64) -> f64 {
    let mut lace = Lace::init(threads);
    timed(expected, expected, || {
        1 + lace_run!(lace, siblings(root, 0, 2_000))
    })
}

pub(super) fn timed_search(threads: usize, tree: &Tree, expected: u64) -> f64 {
    let mut lace = Lace::init(threads);
    let root = tree.root();
    timed(expected, expected, || {
        1 + lace_run!(lace, offspring(tree, &root, 0, tree.children(&root)))
    })
}

/// Computes `fib(n)` once, for the peak of its memory.
pub(super) fn fib_once(threads: usize, n: u32) -> u64 {
    lace_run!(Lace::init(threads), fib(n))
}
