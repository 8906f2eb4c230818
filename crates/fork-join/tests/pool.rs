//! The parts of a pool, the jobs that come from outside, and the fate of its threads.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread::{self, ThreadId};

use filch_fork_join::{Config, Pool, StartError, Worker};

fn pools() -> impl Iterator<Item = Pool> {
    [1, 2, 4]
        .into_iter()
        .map(|threads| Pool::new(threads).unwrap())
}

#[test]
fn what_was_spawned_has_run_when_the_pool_is_finished() {
    for pool in pools() {
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..100 {
            let ran = Arc::clone(&ran);
            pool.spawn(move |worker| {
                worker.spawn(move |_| _ = ran.fetch_add(1, Ordering::Relaxed));
            });
        }
        pool.finish();
        assert_eq!(ran.load(Ordering::Relaxed), 100);
    }
}

#[test]
fn a_panic_of_a_spawned_job_is_told() {
    let (tell, told) = mpsc::channel();
    let tell = Mutex::new(tell);
    let config = Config::default().threads(2).on_panic(move |payload| {
        let message = *payload.downcast::<&str>().unwrap();
        tell.lock().unwrap().send(message).unwrap();
        panic!("one that is contained");
    });
    let pool = Pool::start(config).unwrap();
    pool.spawn(|_| panic!("one"));
    assert_eq!(told.recv(), Ok("one"));
    pool.install(|worker| worker.spawn(|_| panic!("two")));
    assert_eq!(told.recv(), Ok("two"));
    pool.spawn_broadcast(|_| panic!("all"));
    assert_eq!([told.recv(), told.recv()], [Ok("all"), Ok("all")]);
    assert_eq!(pool.install(|_| 7), 7, "the pool goes on");
}

/// Without anybody who wants to know, a panic costs its job only.
#[test]
fn a_panic_of_a_spawned_job_is_contained() {
    let pool = Pool::new(1).unwrap();
    pool.spawn(|_| panic!("for nobody"));
    assert_eq!(pool.install(|_| 7), 7);
}

#[test]
fn a_broadcast_runs_once_on_each_thread() {
    for pool in pools() {
        let threads = pool.threads();
        for _ in 0..100 {
            let seen: Vec<(usize, ThreadId)> =
                pool.broadcast(|worker| (worker.index(), thread::current().id()));
            assert!(seen.iter().map(|seen| seen.0).eq(0..threads));
            let ids: HashSet<_> = seen.iter().map(|seen| seen.1).collect();
            assert_eq!(ids.len(), threads);
        }
        let inside = pool.install(|worker| worker.broadcast(Worker::index));
        assert_eq!(inside, Vec::from_iter(0..threads));
    }
}

/// As rayon promises it: what a thread has spawned comes before what all threads are told.
#[test]
fn a_broadcast_comes_after_what_the_thread_has_spawned() {
    let pool = Pool::new(1).unwrap();
    let (log, order) = mpsc::channel();
    pool.install(|worker| {
        for (job, log) in [log.clone(), log.clone()].into_iter().enumerate() {
            worker.spawn(move |_| log.send(job).unwrap());
        }
        worker.spawn_broadcast(move |_| log.send(2).unwrap());
    });
    assert_eq!(order.into_iter().collect::<Vec<_>>(), [1, 0, 2]);
}

/// Also on a thread that is about to wait, and leaves what it has spawned to another one that looks
/// for work.
#[test]
fn a_broadcast_finds_nothing_left_of_what_the_thread_has_spawned() {
    for pool in pools() {
        for _ in 0..1_000 {
            pool.install(|worker| worker.spawn(|_| ()));
            let left = pool.broadcast(Worker::has_jobs);
            assert!(!left.contains(&true), "{left:?}");
        }
    }
}

/// Each share forks, and another broadcast goes on in the middle of it.
#[test]
fn broadcasts_nest() {
    for pool in pools() {
        let threads = pool.threads();
        let sums = pool.broadcast(|worker| {
            let (a, b) = worker.join(
                |worker| worker.broadcast(|_| 1).len(),
                |worker| worker.broadcast(|_| 1).len(),
            );
            a + b
        });
        assert_eq!(sums, vec![2 * threads; threads]);
    }
}

/// A thread that yields has its share at once, and so has one that waits for a branch: it hangs
/// here if not.
#[test]
fn a_broadcast_reaches_those_that_wait() {
    let pool = Pool::start(Config::default().threads(2)).unwrap();
    let is_over = AtomicBool::new(false);
    let both = Barrier::new(3);
    pool.scope(|scope| {
        scope.spawn(|worker, _| {
            let owner = worker.index();
            worker.join(
                |_| both.wait(),
                |worker| {
                    // The owner waits for this, now or soon.
                    assert_ne!(worker.index(), owner);
                    both.wait();
                    while !is_over.load(Ordering::Acquire) {
                        worker.yield_now();
                    }
                },
            );
        });
        both.wait();
        for _ in 0..100 {
            assert_eq!(pool.broadcast(Worker::index), [0, 1]);
        }
        is_over.store(true, Ordering::Release);
    });
}

#[test]
fn a_panic_of_a_broadcast_leaves_when_all_have_run() {
    let pool = Pool::new(4).unwrap();
    let ran = AtomicUsize::new(0);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        pool.broadcast(|worker| {
            ran.fetch_add(1, Ordering::Relaxed);
            assert!(worker.index() != 2, "the third");
        })
    }));
    assert_eq!(
        *outcome.unwrap_err().downcast::<&str>().unwrap(),
        "the third"
    );
    assert_eq!(ran.into_inner(), 4);
}

#[test]
fn the_caller_may_be_a_thread_of_the_pool() {
    // Of its own, as it stays the pool's.
    thread::spawn(|| {
        let pool = Pool::start(Config::default().threads(1).with_caller()).unwrap();
        let here = thread::current().id();
        assert_eq!(pool.threads(), 1);
        assert_eq!(pool.install(|_| thread::current().id()), here);
        let (done, order) = mpsc::channel();
        for number in 0..3 {
            let done = done.clone();
            pool.spawn(move |_| done.send(number).unwrap());
        }
        assert!(order.try_recv().is_err(), "nobody else runs them");
        Worker::current(|worker| {
            let worker = worker.unwrap();
            assert_eq!(worker.index(), 0);
            assert!(worker.has_jobs());
            while worker.yield_now() {}
            assert!(!worker.has_jobs());
        });
        assert_eq!(
            [order.recv(), order.recv(), order.recv()],
            [Ok(2), Ok(1), Ok(0)]
        );
        assert_eq!(pool.broadcast(Worker::index), [0]);

        let error = Pool::start(Config::default().threads(2).with_caller()).unwrap_err();
        assert!(matches!(error, StartError::CallerIsTaken), "{error}");
    })
    .join()
    .unwrap();
}

#[test]
fn the_caller_takes_part() {
    thread::spawn(|| {
        let pool = Pool::start(Config::default().threads(2).with_caller()).unwrap();
        let both = Barrier::new(2);
        pool.scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|_, _| _ = both.wait());
            }
        });
    })
    .join()
    .unwrap();
}

/// A job is not begun twice, neither by the owner that yields nor by the one that joins.
#[test]
fn a_branch_may_run_while_the_other_one_yields() {
    let pool = Pool::new(1).unwrap();
    pool.install(|worker| {
        let ran = AtomicUsize::new(0);
        let (a, b) = worker.join(
            |worker| {
                let mut yields = 0;
                while ran.load(Ordering::Relaxed) == 0 {
                    assert!(worker.yield_local());
                    yields += 1;
                }
                assert!(!worker.has_jobs());
                yields
            },
            |_| ran.fetch_add(1, Ordering::Relaxed),
        );
        assert_eq!((a, b, ran.into_inner()), (1, 0, 1));
    });
}

/// As many at a time as there are threads now: it hangs here if there are fewer.
#[test]
fn a_pool_is_resized_while_it_works() {
    let pool = Pool::start(Config::default().threads(1).blocking_threads(8)).unwrap();
    for count in [4, 2, 6, 1, 3] {
        pool.resize(count).unwrap();
        assert_eq!(pool.threads(), count);
        let together = Barrier::new(count);
        pool.scope(|scope| {
            for _ in 0..count {
                scope.spawn(|_, _| _ = together.wait());
            }
        });
        pool.broadcast(|worker| worker.join(|_| (), |_| ()));
    }
}

/// One thread at a time, and one job that waits for the other: it hangs here if the first one keeps
/// the place of the second.
#[test]
fn a_blocking_call_lets_others_run() {
    let pool = Pool::start(Config::default().threads(1).blocking_threads(1)).unwrap();
    let (give, get) = mpsc::channel();
    let get = Mutex::new(get);
    let (got, ()) = pool.install(|worker| {
        worker.join(
            |worker| worker.blocking(|| get.lock().unwrap().recv().unwrap()),
            |_| give.send(7).unwrap(),
        )
    });
    assert_eq!(got, 7);
    let payload = catch_unwind(AssertUnwindSafe(|| {
        pool.install(|worker| worker.blocking(|| panic!("in the call")));
    }));
    assert_eq!(
        *payload.unwrap_err().downcast::<&str>().unwrap(),
        "in the call"
    );
}

/// The other thread is busy while this one forks, and becomes hungry in the middle of its leaf,
/// which waits for the younger of two jobs. It hangs here if that may be hidden.
#[test]
fn a_job_that_may_not_be_hidden_is_stolen_during_a_leaf() {
    let pool = Pool::start(Config::default().threads(2)).unwrap();
    let (busy, both) = (Barrier::new(2), Barrier::new(2));
    for _ in 0..50 {
        pool.install(|worker| {
            worker.scope(|scope| {
                scope.spawn(|_, _| {
                    busy.wait();
                    busy.wait();
                });
                busy.wait();
                // What it had asked for before.
                worker.join(|_| (), |_| ());
                let leaf = |_: &Worker| {
                    busy.wait();
                    both.wait();
                };
                worker.join(|worker| worker.join(leaf, |_| _ = both.wait()), |_| ());
            });
        });
    }
}

#[test]
fn a_pool_knows_its_workers() {
    let (here, there) = (Pool::new(1).unwrap(), Pool::new(1).unwrap());
    here.install(|worker| {
        assert!(here.has(worker));
        assert!(!there.has(worker));
        there.install(|other| assert!(there.has(other) && !here.has(other)));
    });
}

#[test]
fn the_most_threads_are_known() {
    let config = Config::default().threads(Pool::MAX_THREADS + 1);
    let refused = Pool::start(config);
    let most = Pool::MAX_THREADS;
    assert!(matches!(refused, Err(StartError::TooManyThreads { max, .. }) if max == most));
}
