//! Processes, futures and jobs that run beside each other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use filch::fork_join;
use filch::prelude::*;
use filch::scheduler::Context;

use crate::common::{
    Numbers, execute, fib, fib_by, fork_until, is_worker_of_the_scheduler, one_step, restless,
    scheduler, submit,
};

/// A failure: jobs run on the threads of another pool (the global one).
#[test]
fn c6_processes_futures_and_outside_threads_fork_on_the_same_threads() {
    for workers in [1, 2, 4] {
        let (scheduler, pool) = scheduler(workers);
        assert_eq!(pool.threads(), workers);
        assert_eq!(pool.install(|worker| fib_by(worker, 20)), 6765);
        assert_eq!(pool.install(|_| fib(15)), 610);
        assert_eq!(execute(&scheduler, |_| fib(15)), 610);
        let future = scheduler.spawn(async { fib(15) }).unwrap();
        assert_eq!(future.join().unwrap(), 610);
        let pool = Arc::new(pool);
        let same = Arc::clone(&pool);
        let sum = execute(&scheduler, move |_| {
            same.install(|worker| fib_by(worker, 15))
        });
        assert_eq!(sum, 610);
        let sum = AtomicU64::new(0);
        pool.scope(|scope| {
            for number in 0..100 {
                let sum = &sum;
                scope.spawn(move |_, _| {
                    assert!(is_worker_of_the_scheduler());
                    sum.fetch_add(number, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(sum.into_inner(), 4950);
        assert!(scheduler.shutdown(Duration::MAX).unwrap().is_clean());
    }
}

/// Two workers. A process forks; its branch `b` is stolen, and waits for another process, which
/// must run on the worker of the joiner: `b` keeps its own. A failure: the joiner keeps its worker
/// while it sleeps, and all wait for ever.
#[test]
fn a_joiner_that_sleeps_gives_its_worker_away() {
    for _ in 0..20 {
        let (scheduler, pool) = scheduler(2);
        let handle = scheduler.handle();
        let answer = pool.install(|worker| {
            let (stolen, is_stolen) = mpsc::channel();
            worker.join(
                // A second fork, which makes the first one public.
                |worker| worker.join(|_| is_stolen.recv().unwrap(), |_| ()).0,
                |_| {
                    let (answer, answered) = mpsc::channel();
                    // It begins when the joiner sleeps, or before.
                    submit(&handle, move |_| {
                        answer.send(42).unwrap();
                        0
                    });
                    stolen.send(()).unwrap();
                    answered.recv().unwrap()
                },
            )
        });
        assert_eq!(answer, ((), 42));
    }
}

/// One worker, in a job that forks until a process has run. A failure: it hangs, as the worker
/// never comes to the process.
#[test]
fn a_long_job_makes_way_for_a_process() {
    let (scheduler, pool) = scheduler(1);
    for _ in 0..20 {
        let flag = Arc::new(AtomicBool::new(false));
        pool.install(|worker| {
            let flag = Arc::clone(&flag);
            let raised = Arc::clone(&flag);
            submit(&scheduler, move |_| {
                raised.store(true, Ordering::Relaxed);
                0
            });
            fork_until(worker, &flag);
        });
    }
    let made_way = scheduler.stats().total().processor.made_way;
    assert!(made_way >= 20, "{made_way}");
}

/// A job that spawns makes way, too, and so does a process that forks in the middle of its step.
#[test]
fn a_long_scope_and_a_long_step_make_way_for_a_process() {
    let (scheduler, pool) = scheduler(1);
    let raise = |flag: &Arc<AtomicBool>| {
        let flag = Arc::clone(flag);
        move |_: &Context<'_, Numbers>| {
            flag.store(true, Ordering::Relaxed);
            0
        }
    };
    let flag = Arc::new(AtomicBool::new(false));
    pool.install(|worker| {
        submit(&scheduler, raise(&flag));
        while !flag.load(Ordering::Relaxed) {
            worker.scope(|scope| scope.spawn(|_, _| ()));
        }
    });
    let flag = Arc::new(AtomicBool::new(false));
    let raise = raise(&flag);
    execute(&scheduler, move |context| {
        submit(context.handle(), raise);
        while !flag.load(Ordering::Relaxed) {
            fork_join::join(|| (), || ());
        }
        0
    });
}

/// One worker, which always has a process to run. A failure: it hangs, as jobs never get their
/// turn.
#[test]
fn jobs_run_beside_processes_that_never_rest() {
    let (scheduler, pool) = scheduler(1);
    let over = Arc::new(AtomicBool::new(false));
    let restless: Vec<_> = (0..3)
        .map(|_| {
            scheduler
                .submit(restless(Arc::clone(&over)), "run", ())
                .unwrap()
        })
        .collect();
    for _ in 0..10 {
        assert_eq!(pool.install(|worker| fib_by(worker, 18)), 2584);
    }
    over.store(true, Ordering::Relaxed);
    for process in restless {
        process.join().unwrap();
    }
}

/// A call that blocks in a job gives the worker to processes.
#[test]
fn a_job_that_blocks_gives_its_worker_away() {
    let (scheduler, pool) = scheduler(1);
    let answer = pool.install(|worker| {
        let (answer, answered) = mpsc::channel();
        submit(&scheduler, move |_| {
            answer.send(7).unwrap();
            0
        });
        worker.blocking(|| answered.recv().unwrap())
    });
    assert_eq!(answer, 7);
}

#[test]
fn a_panic_arrives_where_it_was_installed() {
    let (scheduler, pool) = scheduler(2);
    let outside = catch_unwind(AssertUnwindSafe(|| {
        pool.install(|worker| worker.join(|_| (), |_| panic!("b")))
    }));
    assert_eq!(outside.unwrap_err().downcast_ref(), Some(&"b"));
    let process = scheduler
        .submit(
            one_step(|_: &Context<'_, Numbers>| fork_join::join(|| panic!("of a branch"), || 2).1),
            "run",
            (),
        )
        .unwrap();
    let error = process.join().unwrap_err().to_string();
    assert!(error.contains("of a branch"), "{error}");
    pool.spawn(|_| panic!("for nobody"));
    assert_eq!(pool.install(|worker| fib_by(worker, 10)), 55);
}
