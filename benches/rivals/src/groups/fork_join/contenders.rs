//! The pools, each asked for a number of threads that work: those of chili are its own and the
//! caller, which takes part; so are forte's and lace's.

use std::num::NonZero;

use filch_fork_join::Pool;

use super::programs::Node;

/// A scenario of the contenders that have all programs, for one of them and its arguments. `timed`
/// with the `contender`s' clock, or with `each` by `latencies`.
macro_rules! scenario {
    ($name:expr, $unit:literal, $threads:expr, $operations:expr, $expected:expr,
     $how:ident by $clock:ident, $program:ident($($argument:expr),*)) => {{
        let (threads, operations, expected) = ($threads, $operations, $expected);
        of(&String::from($name), threads, $unit)
            .$how("filch-fork-join", keeping(move || pool(threads), move |pool| {
                $clock(operations, expected, || {
                    pool.install(|worker| filch::$program(worker, $($argument),*))
                })
            }))
            .$how("filch-fork-join, thread-local", keeping(move || pool(threads), move |pool| {
                $clock(operations, expected, || {
                    pool.install(|_| thread_local::$program(ThreadLocal, $($argument),*))
                })
            }))
            .$how("chili", keeping(move || chili_pool(threads), move |pool| {
                $clock(operations, expected, || {
                    on_chili::$program(&mut pool.scope(), $($argument),*)
                })
            }))
            .$how("rayon", keeping(move || rayon_pool(threads), move |pool| {
                $clock(operations, expected, || {
                    pool.install(|| on_rayon::$program(Rayon, $($argument),*))
                })
            }))
            .floor("sequential", move || {
                timed(operations, expected, || sequential::$program(Sequential, $($argument),*))
            })
    }};
}

pub(super) use scenario;

pub(super) fn pool(threads: usize) -> Pool {
    Pool::new(threads).expect("the system gives threads")
}

pub(super) fn chili_pool(threads: usize) -> chili::ThreadPool {
    chili::ThreadPool::with_config(chili::Config {
        thread_count: NonZero::new(threads),
        ..chili::Config::default()
    })
}

/// chili's fork at its fastest: it looks whether it is to share work at every 255th only.
pub(super) fn fib_of_chili_seldom(scope: &mut chili::Scope<'_>, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = scope.join_with_heartbeat_every::<255, _, _, _, _>(
        move |s| fib_of_chili_seldom(s, n - 1),
        move |s| fib_of_chili_seldom(s, n - 2),
    );
    a + b
}

/// The sum of a tree, with the branches changed over: chili runs the second one first, and so meets
/// the nodes as they lie in memory.
pub(super) fn sum_of_chili_turned(scope: &mut chili::Scope<'_>, node: &Node) -> u64 {
    let Some(below) = &node.below else {
        return node.value;
    };
    let [left, right] = &**below;
    let (b, a) = scope.join(
        |s| sum_of_chili_turned(s, right),
        |s| sum_of_chili_turned(s, left),
    );
    node.value + a + b
}
