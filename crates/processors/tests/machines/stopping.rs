//! The beginning, the end, and who waits for it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use filch_processors::{NeverQuiescent, Processors, Runner};

use crate::pool::{Job, Jobs, Pool, finish, job, processors, started};

/// Tasks are there before the pool starts, and block at once; there is a thread for each processor, and no other.
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
        let runner = Jobs {
            pool: Arc::clone(&pool),
        };
        let machines = Processors::start(&pool, Arc::new(runner)).unwrap();
        finish(&pool, machines);
    }
}

/// The pool is told to stop while the only task is in a call, which then waits for another task of the pool.
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
            // Whoever leaves because the pool stops has every opportunity.
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

/// The call begins only after the stop, on the last processor, and waits for a task that has been queued before.
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

/// A task that has its pool's [`Machines`](filch_processors::Machines) would wait for its own thread.
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

static MADE: AtomicUsize = AtomicUsize::new(0);
static GONE: AtomicUsize = AtomicUsize::new(0);

/// Takes its time when its thread ends.
struct Slow;

impl Drop for Slow {
    fn drop(&mut self) {
        for _ in 0..1_000 {
            std::thread::yield_now();
        }
        GONE.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local! {
    static SLOW: Cell<Option<Slow>> = const { Cell::new(None) };
}

/// Threads leave, and others come in their places, while the first ones are not quite gone. Who joins the pool
/// waits for all of them.
#[test]
fn join_waits_for_threads_whose_places_were_used_again() {
    let (pool, machines) = started(processors(1).spare_threads(0));
    for _ in 0..20 {
        let (done, is_done) = mpsc::channel();
        for _ in 0..4 {
            let done = done.clone();
            pool.inject(job(move |pool| {
                SLOW.with(|slow| {
                    let own = slow.take().unwrap_or_else(|| {
                        MADE.fetch_add(1, Ordering::Relaxed);
                        Slow
                    });
                    slow.set(Some(own));
                });
                pool.blocking(std::thread::yield_now);
                done.send(()).unwrap();
            }));
        }
        drop(done);
        assert_eq!(is_done.iter().count(), 4);
    }
    finish(&pool, machines);
    assert!(pool.threads().started > 1);
    let made = MADE.load(Ordering::Relaxed);
    assert_eq!(GONE.load(Ordering::Relaxed), made);
}

/// Its destructor panics.
struct Bomb;

impl Runner<Job> for Bomb {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn run(&self, _job: Job, (): &mut ()) {}
}

impl Drop for Bomb {
    fn drop(&mut self) {
        std::panic::panic_any("the runner's own panic, wanted by the test");
    }
}

#[test]
fn a_runner_whose_destructor_panics_ends_like_any_other() {
    let pool = Pool::new(processors(2)).unwrap();
    let machines = Processors::start(&pool, Arc::new(Bomb)).unwrap();
    finish(&pool, machines);
    pool.inject(job(|_| ()));
    assert_eq!(pool.wait_quiescent(), Err(NeverQuiescent));
}
