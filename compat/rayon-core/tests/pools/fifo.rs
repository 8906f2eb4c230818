//! Jobs that begin in the order in which they were spawned, from any thread.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rayon_core::{ThreadPoolBuilder, spawn_fifo};

/// Threads of another pool, and of none, spawn beside the pool's own: each job runs once.
#[test]
fn jobs_from_anywhere_run_once() {
    const JOBS: usize = 200;
    let builder = || ThreadPoolBuilder::new().num_threads(3);
    let (pool, other) = (builder().build().unwrap(), builder().build().unwrap());
    let ran = AtomicUsize::new(0);
    pool.scope_fifo(|jobs| {
        let spawn_many = || {
            for _ in 0..JOBS {
                jobs.spawn_fifo(|jobs| {
                    jobs.spawn_fifo(|_| {
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                });
            }
        };
        thread::scope(|threads| {
            threads.spawn(spawn_many);
            threads.spawn(|| other.broadcast(|_| spawn_many()));
            spawn_many();
        });
    });
    assert_eq!(ran.into_inner(), 5 * JOBS);
}

/// Each thread's jobs begin in their order, whatever other threads spawn meanwhile.
#[test]
fn one_thread_outside_is_first_in_first_out() {
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let order = Mutex::new(Vec::new());
    pool.in_place_scope_fifo(|jobs| {
        for job in 0..100 {
            let order = &order;
            jobs.spawn_fifo(move |_| order.lock().unwrap().push(job));
        }
    });
    assert!(order.into_inner().unwrap().into_iter().eq(0..100));
}

/// A job that panics is one turn like any other.
#[test]
fn the_order_survives_a_panic() {
    let pool = ThreadPoolBuilder::new().num_threads(1).panic_handler(drop);
    let pool = pool.build().unwrap();
    let (sender, received) = std::sync::mpsc::channel();
    pool.install(|| {
        for job in 0..10 {
            let sender = sender.clone();
            spawn_fifo(move || {
                sender.send(job).unwrap();
                std::panic::resume_unwind(Box::new(job));
            });
        }
    });
    drop(sender);
    assert!(received.into_iter().eq(0..10));
}
