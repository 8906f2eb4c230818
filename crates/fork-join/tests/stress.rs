//! Random trees against the same walk without a pool: results, panics, and that each node ran once.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use filch_fork_join::{Pool, Worker, join};

const ROUNDS: u64 = if cfg!(debug_assertions) { 150 } else { 1500 };

/// A node, from which its subtree follows.
#[derive(Clone, Copy)]
struct Node {
    seed: u64,
    height: u32,
}

/// splitmix64.
fn mix(seed: u64) -> u64 {
    let seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let seed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let seed = (seed ^ seed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ seed >> 31
}

/// Of a node: its value, or which one panicked.
type Outcome = Result<u64, u64>;

impl Node {
    /// One in 16 of the inner nodes has no children, so subtrees differ in size.
    fn children(self) -> Option<(Self, Self)> {
        let has_children = self.height > 0 && self.seed & 15 != 0;
        let child = |number| Self {
            seed: mix(self.seed ^ number),
            height: self.height - 1,
        };
        has_children.then(|| (child(1), child(2)))
    }

    fn panics(self, walk: &Walk) -> bool {
        walk.panics && self.seed >> 4 & 63 == 0
    }

    /// A few are slow: others steal meanwhile.
    fn work(self, walk: &Walk) {
        // ORDERING: Relaxed: `join` and `install` return after what the jobs did.
        walk.nodes.fetch_add(1, Ordering::Relaxed);
        match self.seed >> 10 & 31 {
            0 => thread::yield_now(),
            1 => (0..1000).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }

    /// Combines the values of a node's children.
    fn combine(self, a: u64, b: u64) -> u64 {
        mix(a.rotate_left(1) ^ b ^ self.seed)
    }
}

/// A walk: its pool, and its count.
struct Walk<'pool> {
    pool: &'pool Pool,
    panics: bool,
    nodes: AtomicUsize,
}

fn sequential(node: Node, walk: &Walk) -> Outcome {
    node.work(walk);
    let value = match node.children() {
        None => node.seed,
        Some((a, b)) => {
            // Both, whatever comes of the first one.
            let (a, b) = (sequential(a, walk), sequential(b, walk));
            node.combine(a?, b?)
        }
    };
    match node.panics(walk) {
        true => Err(node.seed),
        false => Ok(value),
    }
}

/// Each form of `join` and a nested `install`, by the node.
fn parallel(worker: &Worker, node: Node, walk: &Walk) -> u64 {
    node.work(walk);
    let value = match node.children() {
        None => node.seed,
        Some((a, b)) => {
            let (a, b) = match node.seed >> 15 & 7 {
                0 => walk.pool.install(|w| both(w, a, b, walk)),
                1 => join(
                    || walk.pool.install(|w| parallel(w, a, walk)),
                    || walk.pool.install(|w| parallel(w, b, walk)),
                ),
                2 => {
                    let (b, a) = worker.join(
                        |w| catch_unwind(AssertUnwindSafe(|| parallel(w, b, walk))),
                        |w| catch_unwind(AssertUnwindSafe(|| parallel(w, a, walk))),
                    );
                    let raise = |payload| -> u64 { resume_unwind(payload) };
                    (a.unwrap_or_else(raise), b.unwrap_or_else(raise))
                }
                _ => both(worker, a, b, walk),
            };
            node.combine(a, b)
        }
    };
    if node.panics(walk) {
        resume_unwind(Box::new(node.seed));
    }
    value
}

fn both(worker: &Worker, a: Node, b: Node, walk: &Walk) -> (u64, u64) {
    worker.join(|w| parallel(w, a, walk), |w| parallel(w, b, walk))
}

fn compare(pool: &Pool, root: Node, panics: bool) {
    let walk = || Walk {
        pool,
        panics,
        nodes: AtomicUsize::new(0),
    };
    let (ours, theirs) = (walk(), walk());
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        pool.install(|worker| parallel(worker, root, &ours))
    }));
    let outcome = outcome.map_err(|payload| *payload.downcast::<u64>().expect("a node's"));
    assert_eq!(outcome, sequential(root, &theirs));
    assert_eq!(ours.nodes.into_inner(), theirs.nodes.into_inner());
}

/// Several threads outside of the pool walk trees on it at once.
fn walk_trees(threads: usize, callers: u64, panics: bool) {
    let pool = &Pool::new(threads).unwrap();
    let walk = |caller| {
        for round in 0..ROUNDS / callers {
            let seed = mix(caller << 32 | round);
            let height = 2 + (seed >> 32) as u32 % 9;
            compare(pool, Node { seed, height }, panics);
        }
    };
    thread::scope(|scope| {
        for caller in 0..callers {
            scope.spawn(move || walk(caller));
        }
    });
}

#[test]
fn trees() {
    for threads in [1, 2, 4] {
        walk_trees(threads, 1, false);
    }
}

#[test]
fn trees_of_several_callers() {
    for threads in [1, 2, 4] {
        walk_trees(threads, 3, false);
    }
}

#[test]
fn trees_with_panics() {
    for threads in [1, 2, 4] {
        walk_trees(threads, 1, true);
        walk_trees(threads, 3, true);
    }
}
