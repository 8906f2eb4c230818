//! What a thread begins on top of what: as it is told, and as it is reported while it hangs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use filch_fork_join::{Config, Doing, Pool, Reentry, ThreadReport, Worker};

/// A pool of two threads, and what they tell.
fn pool() -> (Pool, Arc<Mutex<Vec<Reentry>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&told);
    let config = Config::default()
        .threads(2)
        .on_reentry(move |reentry| keep.lock().unwrap().push(*reentry));
    (Pool::start(config).unwrap(), told)
}

/// Waits for a branch that is on the other one of two threads and goes on as long as `is_over`
/// says `false`. That thread calls `begun` first.
fn wait_beside(worker: &Worker, begun: impl FnOnce() + Send, is_over: impl Fn() -> bool + Sync) {
    let both = Barrier::new(2);
    worker.join(
        |_| both.wait(),
        |_| {
            let result = both.wait();
            begun();
            while !is_over() {
                thread::yield_now();
            }
            result
        },
    );
}

fn has(name: &str, part: &str) -> bool {
    name.contains(part)
}

/// rayon's issues 592 and 1251: a job holds a lock while it waits, and another one wants it, on top
/// of it. While that hangs, the report says which two they are; then a spare key is found. Without
/// names in the jobs, nobody could tell.
#[test]
fn a_deadlock_is_reported_with_both_names() {
    /// A lock that nobody who holds it gets back, until it is broken.
    struct Lock {
        is_held: AtomicBool,
        is_broken: AtomicBool,
    }

    impl Lock {
        fn acquire(&self) {
            while self.is_held.swap(true, Ordering::Acquire)
                && !self.is_broken.load(Ordering::Relaxed)
            {
                thread::yield_now();
            }
        }

        fn release(&self) {
            self.is_held.store(false, Ordering::Release);
        }
    }

    fn holds_a_lock_across_a_join(pool: &Pool, lock: &Lock, is_over: &AtomicBool) {
        pool.scope(|scope| {
            scope.spawn(|worker, scope| {
                lock.acquire();
                let spawn = || scope.spawn(|_, _| wants_the_lock(lock, is_over));
                wait_beside(worker, spawn, || is_over.load(Ordering::Acquire));
                lock.release();
            });
        });
    }

    fn wants_the_lock(lock: &Lock, is_over: &AtomicBool) {
        lock.acquire();
        is_over.store(true, Ordering::Release);
        lock.release();
    }

    let (pool, told) = pool();
    let (lock, is_over) = (
        Lock {
            is_held: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
        },
        AtomicBool::new(false),
    );
    let hanging = thread::scope(|scope| {
        let hangs = scope.spawn(|| holds_a_lock_across_a_join(&pool, &lock, &is_over));
        let hanging = loop {
            let is_nested = |report: &ThreadReport| report.depth() == 2;
            if let Some(report) = pool.report().into_iter().find(is_nested) {
                break report;
            }
            thread::yield_now();
        };
        assert!(!is_over.load(Ordering::Acquire), "it did not hang");
        lock.is_broken.store(true, Ordering::Relaxed);
        hangs.join().unwrap();
        hanging
    });
    let [outer, inner] = hanging.jobs() else {
        panic!("{hanging}");
    };
    // The closures stand in the function that spawns them.
    assert!(has(outer, "holds_a_lock_across_a_join"), "{hanging}");
    assert!(has(inner, "holds_a_lock_across_a_join"), "{hanging}");
    assert_ne!(outer, inner, "{hanging}");
    assert_eq!(hanging.doing(), Doing::Runs);
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].thread(), hanging.index());
    assert_eq!(told[0].waiting(), Some(*outer));
    assert_eq!(told[0].begun(), *inner);
}

/// What is a part of what the thread waits for is begun in its middle, and nobody is told: jobs of
/// the scope that it waits for, and what its thief has forked.
#[test]
fn a_part_is_no_reentry() {
    let (pool, told) = pool();
    for _ in 0..50 {
        pool.install(|worker| {
            worker.scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|_, scope| scope.spawn(|_, _| ()));
                }
            });
        });
    }
    assert_eq!(*told.lock().unwrap(), []);

    let rounds = AtomicUsize::new(0);
    pool.install(|worker| {
        let both = Barrier::new(2);
        worker.join(
            |_| both.wait(),
            |worker| {
                let result = both.wait();
                let here = worker.index();
                // Until the thread that waits has run ten of them.
                while rounds.load(Ordering::Relaxed) < 10 {
                    worker.join(
                        |_| thread::yield_now(),
                        |worker| {
                            if worker.index() != here {
                                rounds.fetch_add(1, Ordering::Relaxed);
                            }
                        },
                    );
                }
                result
            },
        );
    });
    assert_eq!(*told.lock().unwrap(), []);
}

/// A hook that panics does no harm. A region has nothing to tell.
#[test]
fn a_hook_may_panic() {
    let config = Config::default()
        .threads(1)
        .on_reentry(|reentry| panic!("wanted: {reentry}"));
    let pool = Pool::start(config).unwrap();
    let ran = pool.install(|worker| {
        worker.scope(|scope| {
            scope.spawn(|_, _| ());
            worker.yield_now()
        })
    });
    assert!(ran);
    let ran = pool.install(|worker| {
        worker.isolate(|worker| {
            worker.scope(|scope| {
                scope.spawn(|_, _| ());
                worker.yield_now()
            })
        })
    });
    assert!(ran);
}

/// Each state of a thread is seen from outside.
#[test]
fn what_a_thread_does_is_reported() {
    let (pool, _) = pool();
    let doing = |wanted: Doing| {
        let is_so = |report: &ThreadReport| report.doing() == wanted;
        while !pool.report().iter().any(is_so) {
            thread::yield_now();
        }
    };
    let are_idle = || {
        let report = pool.report();
        report.len() == 2 && report.iter().all(|thread| thread.doing() == Doing::Idle)
    };
    while !are_idle() {
        thread::yield_now();
    }
    pool.install(|worker| {
        assert_eq!(pool.report()[worker.index()].doing(), Doing::Runs);
        worker.blocking(|| doing(Doing::Blocks));
        wait_beside(worker, || doing(Doing::Sleeps), || true);
        assert_eq!(pool.report()[worker.index()].doing(), Doing::Runs);
    });
    assert!(format!("{pool:?}").contains("ThreadReport"));
}
