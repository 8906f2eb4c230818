//! Another number of processors, while tasks run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};

use filch_processors::{Config, PoolError};

use crate::pool::{Pool, finish, job, processors, started};

#[test]
fn impossible_sizes() {
    assert!(matches!(
        Pool::new(processors(4).max_processors(3)),
        Err(PoolError::TooManyProcessors { asked: 4, max: 3 })
    ));
    assert!(matches!(
        Pool::new(processors(4).thread_limit(3)),
        Err(PoolError::TooFewThreads {
            limit: 3,
            processors: 4
        })
    ));
    assert!(matches!(
        Pool::new(Config::default().max_processors(0)),
        Err(PoolError::NoProcessors)
    ));
    let waiting = Pool::new(processors(1)).unwrap();
    assert!(matches!(waiting.resize(1), Err(PoolError::NotRunning)));
    let (pool, machines) = started(processors(1).max_processors(3));
    assert!(matches!(pool.resize(0), Err(PoolError::NoProcessors)));
    assert!(matches!(
        pool.resize(4),
        Err(PoolError::TooManyProcessors { asked: 4, max: 3 })
    ));
    assert_eq!(pool.resize(3).unwrap(), 1);
    assert_eq!((pool.count(), pool.max_count()), (3, 3));
    finish(&pool, machines);
    assert!(matches!(pool.resize(2), Err(PoolError::Stopped)));
}

/// Exactly as many tasks run at once as there are processors, after each change.
#[test]
fn as_many_run_at_once_as_there_are_processors() {
    let (pool, machines) = started(processors(1).max_processors(4));
    for count in [2, 4, 1, 3, 4, 2, 1] {
        pool.resize(count).unwrap();
        // They meet, or this hangs.
        let together = Arc::new(Barrier::new(count));
        for _ in 0..count {
            let together = Arc::clone(&together);
            pool.inject(job(move |pool| {
                assert!(pool.current().is_some_and(|processor| processor < 4));
                together.wait();
            }));
        }
        pool.wait_quiescent(None).unwrap();
    }
    finish(&pool, machines);
}

/// To one and back, over and over, by two threads at once, while tasks make tasks and block: each
/// runs exactly once.
#[test]
fn b1_resizes_under_load_lose_nothing() {
    const ROOTS: usize = 200;
    const CHILDREN: usize = 50;
    let (pool, machines) = started(processors(2).max_processors(5));
    let ran = Arc::new(Mutex::new(Vec::new()));
    let over = Arc::new(AtomicBool::new(false));
    let resizers: Vec<_> = [[1, 5, 2, 4], [3, 1, 5, 1]]
        .into_iter()
        .map(|sizes| {
            let (pool, over) = (Arc::clone(&pool), Arc::clone(&over));
            std::thread::spawn(move || {
                let mut resizes = 0;
                for size in sizes.into_iter().cycle() {
                    if over.load(Ordering::Relaxed) {
                        return resizes;
                    }
                    pool.resize(size).unwrap();
                    resizes += 1;
                }
                resizes
            })
        })
        .collect();
    for root in 0..ROOTS {
        let ran = Arc::clone(&ran);
        pool.inject(job(move |pool| {
            for child in 0..CHILDREN {
                let ran = Arc::clone(&ran);
                pool.schedule(job(move |pool| {
                    if child % 8 == 0 {
                        pool.blocking(std::thread::yield_now);
                    }
                    ran.lock().unwrap().push(root * CHILDREN + child);
                }));
            }
        }));
    }
    pool.wait_quiescent(None).unwrap();
    over.store(true, Ordering::Relaxed);
    for resizer in resizers {
        assert!(resizer.join().unwrap() > 0);
    }
    let mut ran = std::mem::take(&mut *ran.lock().unwrap());
    ran.sort_unstable();
    assert_eq!(ran, (0..ROOTS * CHILDREN).collect::<Vec<_>>());
    finish(&pool, machines);
}

/// A task on a surplus processor makes another one and waits for it, while the only processor that
/// is to stay sleeps. A failure: it hangs, because no thread is woken, as if the only active
/// processor were the task's.
#[test]
fn who_is_one_too_many_wakes_who_stays() {
    let (pool, machines) = started(processors(2).max_processors(2));
    let mut surplus = false;
    while !surplus {
        pool.resize(2).unwrap();
        let (begun, has_begun) = mpsc::channel();
        let (shrunk, is_shrunk) = mpsc::channel();
        pool.inject(job(move |pool| {
            begun.send(pool.current()).unwrap();
            is_shrunk.recv().unwrap();
            let (to, from) = mpsc::channel();
            if pool.current() == Some(1) {
                pool.schedule(job(move |_| to.send(()).unwrap()));
                from.recv().unwrap();
            }
        }));
        surplus = has_begun.recv().unwrap() == Some(1);
        pool.resize(1).unwrap();
        // Until the other one sleeps.
        (0..1000).for_each(|_| std::thread::yield_now());
        shrunk.send(()).unwrap();
        pool.wait_quiescent(None).unwrap();
    }
    finish(&pool, machines);
}
