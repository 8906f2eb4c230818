//! Pools within pools: a thread that waits for another pool runs jobs of its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use rayon_core::{ThreadPool, ThreadPoolBuilder, current_num_threads, join, scope};

fn pool_of(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.build().unwrap()
}

/// A failure: it hangs, as each pool's one thread waits for the other's.
#[test]
fn two_pools_of_one_thread_wait_for_each_other() {
    let (a, b) = (pool_of(1), pool_of(1));
    fn back_and_forth(here: &ThreadPool, there: &ThreadPool, left: usize) -> usize {
        match left {
            0 => 0,
            _ => here.install(|| back_and_forth(there, here, left - 1)) + 1,
        }
    }
    assert_eq!(back_and_forth(&a, &b, 50), 50);
}

/// Calls within a job run on the job's pool, and later calls on the outer one again.
#[test]
fn the_innermost_pool_is_the_current_one() {
    let (outer, inner) = (pool_of(2), pool_of(3));
    outer.install(|| {
        assert_eq!(current_num_threads(), 2);
        inner.install(|| {
            assert_eq!(current_num_threads(), 3);
            assert!(outer.current_thread_index().is_none());
            assert!(inner.current_thread_index().is_some());
        });
        assert_eq!(current_num_threads(), 2);
    });
}

#[test]
fn a_pool_may_be_built_and_dropped_within_a_job() {
    let outer = pool_of(2);
    let sum = |from: usize| -> usize {
        let inner = pool_of(2);
        inner.spawn(|| ());
        let (a, b) = inner.join(|| from, || from + 1);
        a + b
    };
    assert_eq!(outer.install(|| join(|| sum(0), || sum(10))), (1, 21));
}

/// The threads of one pool spawn into a scope of another's.
#[test]
fn a_scope_takes_jobs_from_another_pool() {
    let (outer, inner) = (pool_of(2), pool_of(2));
    let on_outer = AtomicUsize::new(0);
    outer.scope(|jobs| {
        inner.scope(|others| {
            for _ in 0..100 {
                others.spawn(|_| {
                    jobs.spawn(|_| {
                        assert!(outer.current_thread_index().is_some());
                        on_outer.fetch_add(1, Ordering::Relaxed);
                    });
                });
            }
        });
    });
    assert_eq!(on_outer.into_inner(), 100);
}

/// The body stays on its thread, whose pool is another one.
#[test]
fn a_scope_in_place_spawns_into_its_pool() {
    let (here, there) = (pool_of(1), pool_of(1));
    let mut ran = false;
    here.install(|| {
        let (sender, receiver) = channel();
        there.in_place_scope(|jobs| {
            assert_eq!(here.current_thread_index(), Some(0));
            jobs.spawn(|_| {
                assert_eq!(there.current_thread_index(), Some(0));
                ran = true;
                sender.send(()).unwrap();
            });
            // It runs while the body does.
            receiver.recv().unwrap();
        });
        scope(|jobs| jobs.spawn(|_| assert_eq!(here.current_thread_index(), Some(0))));
    });
    assert!(ran);
}
