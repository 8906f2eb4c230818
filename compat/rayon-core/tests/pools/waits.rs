//! Waits on top of waits, more than a few dozen on a stack: each ends.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use rayon_core::{broadcast, join, scope, spawn, yield_now};

use crate::alone;

/// More than 64 waits for one of two threads, if all are on stacks at once.
const WAITS: usize = 130;

fn pool(threads: usize) -> ThreadPool {
    let pool = ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap()
}

/// A pool of two threads, and larger ones.
fn pools() -> impl Iterator<Item = ThreadPool> {
    [2, 3, 8, 12].into_iter().map(pool)
}

/// Calls `wait` in each of many branches.
fn in_branches(pool: &ThreadPool, wait: impl Fn() + Sync) {
    fn halves(range: Range<usize>, wait: &(impl Fn() + Sync)) {
        let middle = range.start + range.len() / 2;
        match range.len() {
            1 => wait(),
            _ => {
                join(
                    || halves(range.start..middle, wait),
                    || halves(middle..range.end, wait),
                );
            }
        }
    }
    pool.install(|| halves(0..WAITS, &wait));
}

/// Each broadcast needs all threads.
#[test]
fn for_a_broadcast() {
    for pool in pools() {
        in_branches(&pool, || _ = broadcast(|_| ()));
    }
}

#[test]
fn for_a_broadcast_of_a_scope() {
    for pool in pools() {
        in_branches(&pool, || scope(|jobs| jobs.spawn_broadcast(|_, _| ())));
    }
}

/// The other pool calls back for a part of the work.
#[test]
fn for_another_pool() {
    for (here, there) in pools().zip(pools()) {
        in_branches(&here, || there.install(|| here.install(|| ())));
    }
}

#[test]
fn for_a_scope_of_another_pool() {
    for (here, there) in pools().zip(pools()) {
        in_branches(&here, || {
            there.scope(|jobs| jobs.spawn(|_| here.scope(|jobs| jobs.spawn(|_| ()))));
        });
    }
}

#[test]
fn by_yields_for_what_it_has_spawned() {
    for pool in pools() {
        in_branches(&pool, || {
            let (sender, receiver) = channel();
            spawn(move || sender.send(()).unwrap());
            while receiver.try_recv().is_err() {
                yield_now();
            }
        });
    }
}

/// A thread of no pool spawns the awaited jobs, after all branches wait.
#[test]
fn by_yields_for_what_comes_from_outside() {
    for pool in pools() {
        let pool = &pool;
        let (asks, asked) = channel::<Sender<()>>();
        thread::scope(|outside| {
            outside.spawn(move || {
                let all: Vec<_> = asked.iter().take(WAITS).collect();
                for answer in all {
                    pool.spawn(move || answer.send(()).unwrap());
                }
            });
            in_branches(pool, || {
                let (answer, answered) = channel();
                asks.send(answer).unwrap();
                while answered.try_recv().is_err() {
                    yield_now();
                }
            });
        });
    }
}

/// The branch that begins last ends first.
#[test]
fn by_yields_for_each_other() {
    for pool in pools() {
        let ended = AtomicUsize::new(0);
        pool.scope_fifo(|jobs| {
            for job in 0..WAITS {
                let ended = &ended;
                jobs.spawn_fifo(move |_| {
                    while ended.load(Ordering::Acquire) < WAITS - 1 - job {
                        yield_now();
                        thread::yield_now();
                    }
                    ended.fetch_add(1, Ordering::Release);
                });
            }
        });
        assert_eq!(ended.into_inner(), WAITS);
    }
}

/// More waits than a stack can hold. (On rayon's own core the stack overflows.)
#[test]
fn on_a_stack_that_is_full_abort() {
    alone::aborts(
        "waits::on_a_stack_that_is_full_abort",
        "nested_jobs",
        || {
            pool(2).scope(|jobs| {
                for _ in 0..200_000 {
                    jobs.spawn(|_| while yield_now().is_some() {});
                }
            });
        },
    );
}
