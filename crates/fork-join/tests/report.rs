//! Reports on the threads of a pool, made while these go on.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use filch_fork_join::{Doing, Pool, ThreadReport, Worker};

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

    let pool = Pool::new(2).unwrap();
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
            let is_nested = |report: &ThreadReport| report.depth == 2;
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
    let [outer, inner] = &hanging.jobs[..] else {
        panic!("{hanging}");
    };
    // The closures stand in the function that spawns them.
    assert!(has(outer, "holds_a_lock_across_a_join"), "{hanging}");
    assert!(has(inner, "holds_a_lock_across_a_join"), "{hanging}");
    assert_ne!(outer, inner, "{hanging}");
    assert_eq!(hanging.doing, Doing::Runs);
}

/// Each state of a thread is seen from outside.
#[test]
fn what_a_thread_does_is_reported() {
    let pool = Pool::new(2).unwrap();
    let doing = |wanted: Doing| {
        let is_so = |report: &ThreadReport| report.doing == wanted;
        while !pool.report().iter().any(is_so) {
            thread::yield_now();
        }
    };
    let are_idle = || {
        let report = pool.report();
        report.len() == 2 && report.iter().all(|thread| thread.doing == Doing::Idle)
    };
    while !are_idle() {
        thread::yield_now();
    }
    pool.install(|worker| {
        assert_eq!(pool.report()[worker.index()].doing, Doing::Runs);
        worker.blocking(|| doing(Doing::Blocks));
        wait_beside(worker, || doing(Doing::Sleeps), || true);
        assert_eq!(pool.report()[worker.index()].doing, Doing::Runs);
    });
    assert!(format!("{pool:?}").contains("ThreadReport"));
}
