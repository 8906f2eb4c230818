//! Blocking calls.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, LazyLock, mpsc};
use std::time::{Duration, Instant};

use crate::pool::{Job, Pool, finish, job, processors, started};

/// Only other tasks can end the call that the first one makes, and there is one processor.
#[test]
fn b4_tasks_run_beside_a_blocking_call() {
    let (pool, machines) = started(processors(1));
    let (to, from) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |pool| {
        let before = pool.current();
        let sum: usize = pool.blocking(|| {
            assert!(pool.is_machine());
            assert_eq!(pool.current(), None, "it has given its processor away");
            from.iter().sum()
        });
        assert_eq!((before, pool.current()), (Some(0), Some(0)));
        done.send(sum).unwrap();
    }));
    for number in 1..=100 {
        let to = to.clone();
        pool.inject(job(move |_| to.send(number).unwrap()));
    }
    drop(to);
    assert_eq!(is_done.recv(), Ok(5050));
    finish(&pool, machines);
    let stats = pool.stats();
    assert_eq!(
        (
            stats[0].run,
            stats[0].blocking_calls,
            stats[0].blocked_in_place
        ),
        (101, 1, 0)
    );
}

#[test]
fn nested_and_outside_calls_just_run() {
    let (pool, machines) = started(processors(2));
    assert_eq!(pool.blocking(|| 5), 5, "from outside");
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |pool| {
        let inner = pool.blocking(|| pool.blocking(|| (pool.current(), 6)));
        let after = pool.current();
        done.send((inner, after)).unwrap();
    }));
    let (inner, after) = is_done.recv().unwrap();
    assert_eq!(inner, (None, 6));
    assert!(after.is_some_and(|processor| processor < 2));
    finish(&pool, machines);
    assert_eq!(
        pool.stats().iter().map(|p| p.blocking_calls).sum::<u64>(),
        1,
        "the outer one"
    );
}

#[test]
fn a_panic_in_the_call_goes_through_and_the_processor_is_back() {
    let (pool, machines) = started(processors(1));
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |pool| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            pool.blocking(|| std::panic::panic_any("inside"));
        }));
        let message = *caught.unwrap_err().downcast::<&str>().unwrap();
        done.send((message, pool.current())).unwrap();
    }));
    assert_eq!(is_done.recv(), Ok(("inside", Some(0))));
    // One that is not caught costs its task, and nothing else.
    pool.inject(job(|pool| pool.blocking(|| std::panic::panic_any("alone"))));
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |_| done.send(()).unwrap()));
    is_done.recv().unwrap();
    finish(&pool, machines);
    assert_eq!(pool.stats()[0].panicked, 1);
}

/// A hundred calls wait for each other, on two processors, and end when tasks have run beside all
/// of them. Every task ends, on some processor.
#[test]
fn a_hundred_calls_at_once() {
    const CALLS: usize = 100;
    const TASKS: usize = 10_000;
    let (pool, machines) = started(processors(2));
    let all_block = Arc::new(Barrier::new(CALLS + 1));
    let may_end = Arc::new(Barrier::new(CALLS + 1));
    let ran = Arc::new(AtomicUsize::new(0));
    let (done, is_done) = mpsc::channel();
    for number in 0..CALLS {
        let (all_block, may_end) = (Arc::clone(&all_block), Arc::clone(&may_end));
        let done = done.clone();
        pool.inject(job(move |pool| {
            pool.blocking(|| {
                all_block.wait();
                may_end.wait();
            });
            assert!(pool.current().is_some());
            done.send(number).unwrap();
        }));
    }
    all_block.wait();
    assert_eq!(pool.threads().blocking, CALLS);
    let (tasks_done, tasks_are_done) = mpsc::channel();
    for _ in 0..TASKS {
        let (ran, done) = (Arc::clone(&ran), tasks_done.clone());
        pool.inject(job(move |_| {
            if ran.fetch_add(1, Ordering::Relaxed) + 1 == TASKS {
                done.send(()).unwrap();
            }
        }));
    }
    tasks_are_done.recv().unwrap();
    let dump = pool.dump().to_string();
    assert!(dump.contains("100 in blocking calls"), "{dump}");
    may_end.wait();
    drop(done);
    assert_eq!(
        is_done.iter().collect::<HashSet<_>>(),
        (0..CALLS).collect::<HashSet<_>>()
    );
    pool.wait_quiescent(None).unwrap();
    let threads = pool.threads();
    assert_eq!((threads.blocking, threads.waiting), (0, 0));
    finish(&pool, machines);
    assert_eq!(pool.threads().threads, 0);
}

/// Calls come back while every processor runs a task that does not end before they go on: they are
/// handed one between two tasks. Many times, with stealing and parking in between.
#[test]
fn threads_that_come_back_get_their_turn_from_busy_processors() {
    const ROUNDS: usize = 2_000;
    let (pool, machines) = started(processors(2));
    let stop = Arc::new(AtomicBool::new(false));
    /// There is always one such task for each processor.
    fn busy(stop: Arc<AtomicBool>) -> Job {
        job(move |pool| {
            if !stop.load(Ordering::Relaxed) {
                pool.schedule(busy(stop));
            }
        })
    }
    (0..2).for_each(|_| pool.inject(busy(Arc::clone(&stop))));
    let (done, is_done) = mpsc::channel();
    for round in 0..ROUNDS {
        let done = done.clone();
        pool.inject(job(move |pool| {
            pool.blocking(std::thread::yield_now);
            done.send(round).unwrap();
        }));
    }
    drop(done);
    assert_eq!(is_done.iter().collect::<HashSet<_>>().len(), ROUNDS);
    stop.store(true, Ordering::Relaxed);
    finish(&pool, machines);
}

/// Two tasks block over and over, and whenever one of them gives the processor away, the other one
/// is back and waits for it. A third one is in the queue: it runs nevertheless, and before long.
#[test]
fn calls_that_never_end_do_not_starve_the_queue() {
    const MANY: usize = 1_000;
    let (pool, machines) = started(processors(1));
    let calls = Arc::new(AtomicUsize::new(0));
    let ran_after = Arc::new(AtomicUsize::new(usize::MAX));
    let loops = |pool: &Arc<Pool>, calls: &AtomicUsize, ran_after: &AtomicUsize| {
        while ran_after.load(Ordering::Relaxed) == usize::MAX {
            while pool.threads().waiting == 0 && ran_after.load(Ordering::Relaxed) == usize::MAX {
                std::thread::yield_now();
            }
            assert!(calls.fetch_add(1, Ordering::Relaxed) < MANY, "starved");
            pool.blocking(|| ());
        }
    };
    let (second_runs, until_second_runs) = mpsc::channel();
    let first = (Arc::clone(&calls), Arc::clone(&ran_after));
    pool.inject(job(move |pool| {
        let (calls, ran_after) = first;
        pool.blocking(|| until_second_runs.recv().unwrap());
        let in_the_queue = (Arc::clone(&calls), Arc::clone(&ran_after));
        pool.inject(job(move |_| {
            let (calls, ran_after) = in_the_queue;
            ran_after.store(calls.load(Ordering::Relaxed), Ordering::Relaxed);
        }));
        loops(pool, &calls, &ran_after);
    }));
    let second = (Arc::clone(&calls), Arc::clone(&ran_after));
    pool.inject(job(move |pool| {
        second_runs.send(()).unwrap();
        loops(pool, &second.0, &second.1);
    }));
    finish(&pool, machines);
    let ran_after = ran_after.load(Ordering::Relaxed);
    assert!(ran_after <= 2 * 16, "after {ran_after} calls");
}

/// A task that blocks over and over beside no other: its processor waits for it, and no other
/// thread is woken for it.
#[test]
fn b7_calls_beside_no_other_task_wake_no_thread() {
    let (pool, machines) = started(processors(1));
    pool.inject(job(|pool| {
        for _ in 0..1_000 {
            pool.blocking(|| ());
        }
    }));
    finish(&pool, machines);
    assert!(pool.stats()[0].parks <= 2, "{}", pool.dump());
}

/// A call whose task is on a surplus processor gives that up, and it is counted as such.
#[test]
fn a_call_gives_a_processor_too_many_up() {
    let (pool, machines) = started(processors(2));
    let together = Arc::new(Barrier::new(3));
    for _ in 0..2 {
        let together = Arc::clone(&together);
        pool.inject(job(move |pool| {
            together.wait();
            together.wait();
            if pool.current() == Some(1) {
                pool.blocking(|| ());
                assert_eq!(pool.current(), Some(0));
            }
        }));
    }
    together.wait();
    pool.resize(1).unwrap();
    together.wait();
    finish(&pool, machines);
    let stats = pool.stats();
    assert_eq!((stats[1].retired, stats[1].blocking_calls), (1, 1));
}

/// Tasks that are in blocking calls when the pool is stopped come back and schedule more, and all
/// of it runs.
#[test]
fn a_call_that_outlasts_the_pool() {
    let (pool, machines) = started(processors(2));
    let block = Arc::new(Barrier::new(5));
    let (done, is_done) = mpsc::channel();
    for _ in 0..4 {
        let (block, done) = (Arc::clone(&block), done.clone());
        pool.inject(job(move |pool| {
            pool.blocking(|| {
                block.wait();
                block.wait();
            });
            assert!(pool.current().is_some());
            for _ in 0..10 {
                let done = done.clone();
                pool.schedule(job(move |_| done.send(()).unwrap()));
            }
        }));
    }
    drop(done);
    block.wait();
    pool.stop();
    block.wait();
    machines.join();
    assert_eq!(is_done.iter().count(), 40);
    assert_eq!(pool.threads().threads, 0);
}

/// A millisecond later each time.
fn hurries() -> Instant {
    static READINGS: AtomicU32 = AtomicU32::new(0);
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    *START + Duration::from_millis(1) * READINGS.fetch_add(1, Ordering::Relaxed)
}

/// Each task makes a blocking call and is followed by the next one, from the global queue. A
/// failure: one that gives way meanwhile runs behind all of them.
#[test]
fn one_that_gave_way_has_its_turn_beside_blocking_calls() {
    fn call(pool: &Arc<Pool>, left: u32, ends: mpsc::Sender<&'static str>) {
        if left == 0 {
            return ends.send("the calls").unwrap();
        }
        if left == 490 {
            let ends = ends.clone();
            pool.give_way(job(move |_| ends.send("one that gave way").unwrap()));
        }
        pool.inject(job(move |pool| call(pool, left - 1, ends)));
        pool.blocking(|| ());
    }
    let (pool, machines) = started(processors(1).clock(hurries));
    let (ends, ended) = mpsc::channel();
    pool.inject(job(move |pool| call(pool, 500, ends)));
    let order: Vec<_> = ended.iter().collect();
    assert_eq!(order, ["one that gave way", "the calls"]);
    finish(&pool, machines);
}
