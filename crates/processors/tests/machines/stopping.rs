//! The beginning, the end, and threads that wait for it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use filch_processors::{NeverQuiescent, Processors, Runner};

use crate::pool::{Job, Jobs, Pool, finish, job, processors, started};

/// Tasks are there before the pool starts, and block at once; there is a thread for each processor,
/// and no other.
#[test]
fn an_early_call_takes_no_thread_from_a_processor_that_starts() {
    const PROCESSORS: usize = 8;
    for _ in 0..100 {
        let config = processors(PROCESSORS)
            .max_processors(PROCESSORS)
            .thread_limit(PROCESSORS);
        let pool = Pool::new(config).unwrap();
        for _ in 0..PROCESSORS {
            pool.inject(job(|pool| pool.blocking(std::thread::yield_now)));
        }
        let machines = Processors::start(&pool, Arc::new(Jobs)).unwrap();
        finish(&pool, machines);
    }
}

/// The pool is told to stop while the only task is in a call, which then waits for another task of
/// the pool.
#[test]
fn a_call_may_wait_for_a_task_of_a_pool_that_stops() {
    let (pool, machines) = started(processors(1));
    let (called, is_called) = mpsc::channel();
    let (stopped, is_stopped) = mpsc::channel::<()>();
    let (answer, answered) = mpsc::channel();
    pool.inject(job(move |pool| {
        pool.blocking(|| {
            called.send(()).unwrap();
            is_stopped.recv().unwrap();
            // A thread that exits because the pool stops has every opportunity.
            while pool.threads().threads > 2 {
                std::thread::yield_now();
            }
            let (to, from) = mpsc::channel();
            pool.schedule(job(move |_| to.send(7).unwrap()));
            answer.send(from.recv().unwrap()).unwrap();
        });
    }));
    is_called.recv().unwrap();
    pool.stop();
    stopped.send(()).unwrap();
    assert_eq!(answered.recv(), Ok(7));
    machines.join();
}

/// The call begins only after the stop, on the last processor, and waits for a task that has been
/// queued before.
#[test]
fn a_call_that_begins_after_the_stop_gives_its_processor_away() {
    let (pool, machines) = started(processors(1));
    let (to, from) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |pool| {
        pool.schedule(job(move |_| to.send(7).unwrap()));
        pool.stop();
        done.send(pool.blocking(|| from.recv().unwrap())).unwrap();
    }));
    assert_eq!(is_done.recv(), Ok(7));
    machines.join();
    assert_eq!(pool.stats()[0].blocked_in_place, 0);
}

/// A task that has its pool's [`Machines`](filch_processors::Machines) would wait for its own
/// thread.
#[test]
fn a_thread_of_the_pool_must_not_join_it() {
    let (pool, machines) = started(processors(1));
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |pool| {
        pool.stop();
        let refused = catch_unwind(AssertUnwindSafe(|| machines.join()));
        done.send(*refused.unwrap_err().downcast::<&str>().unwrap())
            .unwrap();
    }));
    let message = is_done.recv().unwrap();
    assert!(message.contains("waits for itself"), "{message}");
}

static OPEN: AtomicBool = AtomicBool::new(false);

/// Keeps its thread from ending until it is open.
struct Gate;

impl Drop for Gate {
    fn drop(&mut self) {
        while !OPEN.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
}

thread_local! {
    static GATE: Cell<Option<Gate>> = const { Cell::new(None) };
}

/// A thread exits, and another one comes in its place, while the first one is not quite gone.
/// `join` waits for both.
#[test]
fn join_waits_for_a_thread_whose_place_was_used_again() {
    let (pool, machines) = started(processors(1).max_processors(1).spare_threads(0));
    let (ran, has_run) = mpsc::channel();
    pool.inject(job(move |pool| pool.blocking(|| has_run.recv().unwrap())));
    // On another thread, which is not needed any more when the first one is back.
    pool.inject(job(move |_| {
        GATE.set(Some(Gate));
        ran.send(()).unwrap();
    }));
    let until = |started, threads| {
        while pool.threads().started < started || pool.threads().threads > threads {
            std::thread::yield_now();
        }
    };
    until(2, 1);
    pool.inject(job(|pool| {
        pool.blocking(|| {
            let (to, from) = mpsc::channel();
            pool.inject(job(move |_| to.send(()).unwrap()));
            from.recv().unwrap();
        });
    }));
    until(3, 2);
    pool.stop();
    let opener = std::thread::spawn(|| {
        // A thread that does not wait has every opportunity.
        (0..20_000).for_each(|_| std::thread::yield_now());
        OPEN.store(true, Ordering::Release);
    });
    machines.join();
    assert!(OPEN.load(Ordering::Acquire), "one is not gone");
    opener.join().unwrap();
}

/// Its destructor panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        std::panic::panic_any("a destructor's panic, wanted by the test");
    }
}

/// A runner: its own value is dropped with it, and what it keeps for each thread with the thread.
struct Keeping<Own, Scratch>(Own, fn() -> Scratch);

impl<Own, Scratch> Runner<Job> for Keeping<Own, Scratch>
where
    Own: Send + Sync + 'static,
    Scratch: 'static,
{
    type Scratch = Scratch;

    fn scratch(&self, _machine: usize) -> Scratch {
        (self.1)()
    }

    fn run(&self, _: Job, _: &Arc<Pool>, _: &mut Scratch) {}
}

#[test]
fn a_runner_whose_destructor_panics_ends_like_any_other() {
    let pool = Pool::new(processors(2)).unwrap();
    let runner = Keeping(Bomb, || ());
    let machines = Processors::start(&pool, Arc::new(runner)).unwrap();
    finish(&pool, machines);
    pool.inject(job(|_| ()));
    assert_eq!(pool.wait_quiescent(None), Err(NeverQuiescent));
}

/// A failure: a thread that has unwound is taken for one that is still there, and the runner is
/// kept for it.
#[test]
fn a_thread_whose_scratch_panics_at_the_end_leaves_like_any_other() {
    let pool = Pool::new(processors(2)).unwrap();
    let kept = Arc::new(());
    let runner = Keeping(Arc::clone(&kept), || Bomb);
    let machines = Processors::start(&pool, Arc::new(runner)).unwrap();
    finish(&pool, machines);
    assert_eq!(pool.threads().threads, 0);
    assert_eq!(Arc::strong_count(&kept), 1);
}
