//! The limit on threads, and what happens beyond.

use std::sync::{Arc, Barrier, mpsc};

use filch_processors::{PoolError, Processors};

use crate::pool::{Jobs, Pool, finish, job, processors, started};

/// Two threads in all, and both would block: the second keeps its processor, and goes on.
#[test]
fn b13_at_the_thread_limit_a_call_keeps_its_processor() {
    let (pool, machines) = started(processors(1).max_processors(1).thread_limit(2));
    let (to_first, first) = mpsc::channel::<()>();
    let (done, is_done) = mpsc::channel();
    let second_done = done.clone();
    pool.inject(job(move |pool| {
        pool.blocking(|| first.recv().unwrap());
        done.send("first").unwrap();
    }));
    pool.inject(job(move |pool| {
        pool.blocking(|| assert_eq!(pool.current(), Some(0), "kept"));
        second_done.send("second").unwrap();
        to_first.send(()).unwrap();
    }));
    assert_eq!(is_done.iter().collect::<Vec<_>>(), ["second", "first"]);
    finish(&pool, machines);
    assert_eq!(pool.stats()[0].blocked_in_place, 1);
    let threads = pool.threads();
    assert_eq!((threads.started, threads.refused, threads.limit), (2, 1, 2));
}

/// The system cannot give a stack of half the address space: the pool does not start, and says why.
#[test]
fn b13_a_thread_that_the_system_refuses() {
    let config = processors(1).stack_size(usize::MAX / 4);
    let pool = Pool::new(config).unwrap();
    let runner = Arc::new(Jobs);
    let outcome = Processors::start(&pool, Arc::clone(&runner));
    assert!(matches!(outcome, Err(PoolError::Thread(_))), "{outcome:?}");
    assert_eq!(Arc::strong_count(&runner), 1, "nothing is left behind");
    assert!(matches!(
        Processors::start(&pool, runner),
        Err(PoolError::Stopped)
    ));
}

/// No more threads without a processor are kept than the configuration says.
#[test]
fn surplus_threads_leave() {
    let (pool, machines) = started(processors(2).spare_threads(3));
    for _ in 0..20 {
        let together = Arc::new(Barrier::new(10));
        for _ in 0..10 {
            let together = Arc::clone(&together);
            pool.inject(job(move |pool| {
                pool.blocking(|| {
                    together.wait();
                });
            }));
        }
        pool.wait_quiescent(None).unwrap();
        assert!(pool.threads().spares <= 3);
    }
    finish(&pool, machines);
    assert!(pool.threads().started >= 12);
}

#[test]
fn a_resize_beyond_the_thread_limit_goes_as_far_as_it_can() {
    let (pool, machines) = started(processors(1).max_processors(8).thread_limit(3));
    assert!(matches!(
        pool.resize(8),
        Err(PoolError::Threads { reached: 3 })
    ));
    assert_eq!(pool.count(), 3);
    finish(&pool, machines);
}
