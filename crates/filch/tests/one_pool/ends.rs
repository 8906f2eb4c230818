//! The end of a pool, and of the scheduler that lends it its threads, and their reports.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use filch::fork_join::{Config, Pool, StartError, Worker};
use filch::prelude::*;
use filch::processors::{ExternalTask, PoolHandle, Source};
use filch::scheduler::{CallKind, RunningCall, Scheduler};

use crate::common::{Numbers, fib_by, scheduler};

/// Spawned jobs run even if the pool is dropped; and a scheduler has one pool, however often it is
/// asked for it.
#[test]
fn a_scheduler_has_one_pool_which_outlives_its_references() {
    let (scheduler, first) = scheduler(2);
    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..100 {
        let again = Pool::on(&scheduler.pool()).unwrap();
        assert!(first.install(|worker| again.has(worker)));
        let ran = Arc::clone(&ran);
        again.spawn(move |worker| worker.spawn(move |_| _ = ran.fetch_add(1, Ordering::Relaxed)));
        again.finish();
    }
    drop(first);
    assert!(scheduler.shutdown(Duration::MAX).unwrap().is_clean());
    assert_eq!(ran.load(Ordering::Relaxed), 100);
}

/// The first pool takes the config, unless that sets threads.
#[test]
fn a_shared_pool_is_as_its_config_says() {
    let scheduler = Scheduler::<Numbers>::builder().workers(2).build().unwrap();
    let threads = scheduler.pool();
    for config in [
        Config::default().threads(2),
        Config::default().blocking_threads(1),
        Config::default().thread_name("mine"),
        Config::default().stack_size(1 << 20),
        Config::default().with_caller(),
        Config::default().on_start(drop),
        Config::default().on_exit(drop),
    ] {
        let refused = Pool::start_on(config, &threads);
        assert!(matches!(refused, Err(StartError::ThreadsAreMade)));
    }
    let (tell, told) = mpsc::channel();
    let config = Config::default().on_panic(move |payload| tell.send(payload).unwrap());
    let pool = Pool::start_on(config, &threads).unwrap();
    pool.spawn(|_| panic!("for nobody"));
    let payload = told.recv().unwrap();
    assert_eq!(payload.downcast_ref(), Some(&"for nobody"));
    // A worker that could hide the inner job would wait for ever for it.
    let (go, may_go) = mpsc::channel();
    pool.install(move |worker| {
        let inner = |worker: &Worker| {
            worker.join(|_| may_go.recv().unwrap(), |_| go.send(()).unwrap());
        };
        worker.join(inner, |_| ());
    });
    let again = Pool::start_on(Config::default(), &threads);
    assert!(matches!(again, Err(StartError::Taken)));
    let found = Pool::on(&threads).unwrap();
    assert!(pool.install(|worker| found.has(worker)));
}

#[test]
fn threads_that_run_something_else_already_are_taken() {
    struct Nothing;

    impl Source for Nothing {
        fn take(&self) -> Option<ExternalTask> {
            None
        }

        fn is_empty(&self) -> bool {
            true
        }
    }

    let scheduler = Scheduler::<Numbers>::builder().workers(1).build().unwrap();
    scheduler.pool().attach(Arc::new(Nothing)).unwrap();
    assert!(matches!(
        Pool::on(&scheduler.pool()),
        Err(StartError::Taken)
    ));
}

/// A scheduler that ends waits for the running jobs, and for those that they fork.
#[test]
fn a_shutdown_runs_what_has_been_spawned() {
    let (scheduler, pool) = scheduler(2);
    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..1_000 {
        let ran = Arc::clone(&ran);
        pool.spawn(move |worker| {
            assert_eq!(fib_by(worker, 10), 55);
            ran.fetch_add(1, Ordering::Relaxed);
        });
    }
    assert!(scheduler.shutdown(Duration::MAX).unwrap().is_clean());
    assert_eq!(ran.load(Ordering::Relaxed), 1_000);
}

/// A failure: jobs that come too late wait for ever.
#[test]
fn what_comes_after_the_end_runs_on_the_calling_thread() {
    let (scheduler, pool) = scheduler(2);
    assert!(scheduler.shutdown(Duration::MAX).unwrap().is_clean());
    let here = thread::current().id();
    assert_eq!(
        pool.install(|worker| (fib_by(worker, 15), thread::current().id())),
        (610, here)
    );
    let (done, is_done) = mpsc::channel();
    pool.spawn(move |worker| {
        worker.spawn(move |_| done.send(thread::current().id()).unwrap());
    });
    assert_eq!(is_done.try_recv(), Ok(here));
    let count = AtomicUsize::new(0);
    pool.scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|_, _| _ = count.fetch_add(1, Ordering::Relaxed));
        }
    });
    assert_eq!(count.into_inner(), 10);
    assert!(Pool::on(&handle_of_an_ended_one()).is_ok());
    Worker::current(|worker| assert!(worker.is_none(), "it has given its slot back"));
}

fn handle_of_an_ended_one() -> PoolHandle {
    let scheduler = Scheduler::<Numbers>::builder().workers(1).build().unwrap();
    let handle = scheduler.pool();
    drop(scheduler);
    handle
}

/// Threads outside install all the time; the scheduler ends in between. A failure: one of them
/// waits for ever, as its job came a moment too late.
#[test]
fn no_install_is_lost_in_the_end() {
    for round in 0..30 {
        let (scheduler, pool) = scheduler(1 + round % 2);
        let over = AtomicBool::new(false);
        let begun = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut more = 20;
                    while more > 0 {
                        assert_eq!(pool.install(|worker| fib_by(worker, 3)), 2);
                        begun.fetch_add(1, Ordering::Relaxed);
                        more -= i32::from(over.load(Ordering::Relaxed));
                    }
                });
            }
            while begun.load(Ordering::Relaxed) < 30 {
                thread::yield_now();
            }
            assert!(scheduler.shutdown(Duration::MAX).unwrap().is_clean());
            over.store(true, Ordering::Relaxed);
        });
    }
}

/// A job that does not return is in the report, and in the list of running jobs.
#[test]
fn a_job_that_does_not_return_is_reported() {
    let (scheduler, pool) = scheduler(1);
    let (go, may_go) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel();
    pool.spawn(move |_| {
        begin.send(()).unwrap();
        may_go.recv().unwrap();
    });
    begun.recv().unwrap();
    let is_job = |call: &RunningCall| call.kind == CallKind::Job;
    let running = scheduler.running();
    assert!(running.iter().any(is_job), "{running:?}");
    let dump = scheduler.dump().to_string();
    assert!(dump.contains("an external task of the source"), "{dump}");
    go.send(()).unwrap();
    assert!(scheduler.shutdown(Duration::MAX).unwrap().is_clean());
}

#[test]
fn a_broadcast_runs_on_the_threads_that_have_a_slot() {
    let (scheduler, pool) = scheduler(2);
    assert_eq!(pool.broadcast(Worker::index).len(), 0);
    let meet = Barrier::new(2);
    // Needs both workers: one alone would wait for ever.
    pool.scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|_, _| _ = meet.wait());
        }
    });
    assert_eq!(pool.broadcast(Worker::index), [0, 1]);
    // The scheduler wakes a sleeping thread for it.
    scheduler.wait_for_standstill().unwrap();
    assert_eq!(pool.broadcast(Worker::index), [0, 1]);
}
