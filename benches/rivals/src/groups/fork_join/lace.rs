//! The programs as lace has them: its tasks are functions with an attribute. It begins with what
//! stands second in a `join!`, so the branches are changed over: all others begin with the first.

use lace_ws::{Lace, Worker, lace_run, lace_task};

use super::programs::{Kind, Program, ROOT, children, mixed};
use super::uts::Node;

/// Runs one of the programs that it has.
pub(super) fn run(lace: &mut Lace, program: Program) -> u64 {
    match program.kind {
        Kind::Fib | Kind::FibMoved => lace_run!(lace, fib(program.size as u32)),
        Kind::Unbalanced => 1 + lace_run!(lace, siblings(ROOT, 0, 2_000)),
        Kind::Search => {
            let root = Node::root();
            1 + lace_run!(lace, offspring(&root, 0, root.children()))
        }
        _ => panic!("it has no such program"),
    }
}

#[lace_task]
fn fib(n: u32) -> u64 {
    if n < 2 {
        u64::from(n)
    } else {
        let (b, a) = join!(fib(n - 2), fib(n - 1));
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
fn offspring(parent: &Node, from: u32, to: u32) -> u64 {
    let middle = from.midpoint(to);
    match to - from {
        0 => 0,
        1 => {
            let node = parent.child(from);
            1 + call!(offspring(&node, 0, node.children()))
        }
        _ => {
            let (b, a) = join!(
                offspring(parent, middle, to),
                offspring(parent, from, middle)
            );
            a + b
        }
    }
}
