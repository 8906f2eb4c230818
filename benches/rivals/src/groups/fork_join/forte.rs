//! forte, in a program of its own for each turn: a pool of this version cannot be shrunk (it waits,
//! with its lock in hand, for a thread that wants it), and the threads of one that stays wake up
//! several thousand times a second, beside the other contenders' turns.

use forte::{ThreadPool, Worker};

use super::programs::{forks_of_fib, forte as on_forte, sequential};
use super::timing::{each, timed};
use super::ways::Sequential;
use super::{LONG, ROOT, SEARCHED};
use crate::alone;

/// A turn of a program that has one figure.
pub(super) fn figure(program: &'static str, size: u64, threads: usize) -> impl FnMut() -> f64 {
    let mut all = figures(program, size, threads);
    move || all()[0]
}

/// A turn of a program.
pub(super) fn figures(
    program: &'static str,
    size: u64,
    threads: usize,
) -> impl FnMut() -> Vec<f64> {
    let (size, threads) = (size.to_string(), threads.to_string());
    move || alone::figures(&["forte", program, &size, &threads])
}

/// Calls `call` with a worker of a pool of so many threads, the caller among them. The others stay.
pub(super) fn with_pool<R>(threads: usize, call: impl FnOnce(&Worker) -> R) -> R {
    static POOL: ThreadPool = ThreadPool::new();
    POOL.resize_to(threads - 1);
    POOL.with_worker(call)
}

/// The figures of the program that runs this.
///
/// # Panics
/// If there is no such program here.
pub(crate) fn here(program: &str, size: u64, threads: usize) -> Vec<f64> {
    let small = size as u32;
    with_pool(threads, |worker| {
        let fib = |run: &dyn Fn() -> u64| {
            let expected = sequential::fib(Sequential, small);
            vec![timed(forks_of_fib(small), expected, run)]
        };
        match program {
            "fib" => fib(&|| on_forte::fib(worker, small)),
            "fib_moved" => fib(&|| on_forte::fib_moved(worker, small)),
            "fib_generic" => fib(&|| on_forte::fib_generic(worker, small)),
            "fib_local" => fib(&|| fib_local(small)),
            "queens" => {
                let expected = sequential::queens(Sequential, small);
                vec![timed(1_000, expected, || on_forte::queens(worker, small))]
            }
            "unbalanced" | "unbalanced_moved" => {
                let nodes = sequential::unbalanced(Sequential, ROOT);
                vec![timed(nodes, nodes, || match program {
                    "unbalanced" => on_forte::unbalanced(worker, ROOT),
                    _ => on_forte::unbalanced_moved(worker, ROOT),
                })]
            }
            "search" => {
                let (tree, nodes) = SEARCHED[size as usize];
                vec![timed(nodes, nodes, || on_forte::search(worker, &tree))]
            }
            "skewed" => each(size, size, || on_forte::skewed(worker, 0..size)),
            "before" | "behind" => each(1_000, 10_001, || {
                on_forte::beside_a_leaf(worker, LONG, program == "before")
            }),
            "chain" => each(1_000, size + 1, || on_forte::chain(worker, size, LONG)),
            _ => panic!("no program {program}"),
        }
    })
}

/// Computes by its fork, without a worker in the hand.
fn fib_local(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = forte::join(move |_| fib_local(n - 1), move |_| fib_local(n - 2));
    a + b
}
