//! Whole pools of two to four processors: finding work, sleeping and waking, blocking calls, the
//! end.

mod bound;
mod guests;
mod pool;
mod refused;
mod search;
mod source;
mod yielded;

use filch_processors::{Config, PoolError, Processors};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, Barrier, Mutex};
use shuttle::thread;
use shuttle_tests::{explore, resizer};

use self::pool::{
    Closures, Ran, Task, all_meet, all_run_before_the_stop, as_a_task, task, with_pool,
};

/// Two threads inject, one or two processors run, and the pool is stopped as soon as the injecting
/// is done. A failure: a task is left behind by the last machine, or run twice.
#[test]
fn what_was_injected_before_the_stop_runs() {
    all_run_before_the_stop("everything injected before the stop runs once", |_| {
        as_a_task(Processors::inject)
    });
}

/// The same with one task: it comes, and the stop, while the only machine goes to sleep.
#[test]
fn one_task_and_the_stop_race_with_a_sleeper() {
    explore(
        "a task and the stop race with the only sleeper",
        5_000,
        || {
            let ran = Ran::new();
            with_pool(1, |pool| {
                let ran = ran.clone();
                pool.inject(task(move |_| ran.note(0)));
            });
            ran.assert_each_once(1);
        },
    );
}

/// A tree of tasks, three processors: each task schedules two more, down to eight leaves. A
/// failure: a leaf is missing or doubled; or a deadlock, as all sleep beside work.
#[test]
fn a_tree_of_tasks_runs_to_its_leaves() {
    fn plant(pool: &Processors<Task>, ran: &Ran, node: usize) {
        if node >= 8 {
            ran.note(node - 8);
            return;
        }
        for child in [2 * node, 2 * node + 1] {
            let ran = ran.clone();
            pool.schedule(task(move |pool| plant(pool, &ran, child)));
        }
    }

    explore("a tree of tasks runs to its leaves", 1_000, || {
        let ran = Ran::new();
        with_pool(3, |pool| plant(pool, &ran, 1));
        ran.assert_each_once(8);
    });
}

/// A failure is a deadlock: a task waits in a queue beside a sleeping processor.
#[test]
fn two_to_four_meet() {
    for parties in 2..=4 {
        let claim = format!("no task waits beside an idle processor: {parties}");
        all_meet(&claim, parties, |_| as_a_task(Processors::inject));
    }
}

/// Two tasks that end at once, and then two that end only when both have begun. A processor that is
/// done with the first takes both of the others from the global queue in one batch, while the other
/// processor looks a last time before it sleeps: it sees the queue empty and the deque not yet
/// filled. A failure is a deadlock: nobody wakes it for the batch in between.
#[test]
fn a_batch_on_its_way_is_not_overlooked() {
    explore("a batch on its way is not overlooked", 10_000, || {
        with_pool(2, |pool| {
            let meeting = Arc::new(Barrier::new(3));
            for _ in 0..2 {
                pool.inject(task(|_| ()));
            }
            for _ in 0..2 {
                let meeting = Arc::clone(&meeting);
                pool.inject(task(move |_| {
                    meeting.wait();
                }));
            }
            meeting.wait();
        });
    });
}

/// One task schedules the tasks of a meeting in its own deque and then waits for them: the others
/// must be woken, and steal. A failure is a deadlock.
#[test]
fn what_a_blocked_task_has_scheduled_is_stolen() {
    explore("a blocked task hides nothing", 2_000, || {
        with_pool(3, |pool| {
            let meeting = Arc::new(Barrier::new(4));
            let outside = Arc::clone(&meeting);
            pool.inject(task(move |pool| {
                for _ in 0..2 {
                    let meeting = Arc::clone(&meeting);
                    pool.schedule(task(move |_| {
                        meeting.wait();
                    }));
                }
                meeting.wait();
            }));
            outside.wait();
        });
    });
}

/// A task panics between others. A failure: its thread is gone, and with it the task that it should
/// run next.
#[test]
fn a_panic_costs_its_task_alone() {
    explore("a task's panic is contained", 300, || {
        let ran = Ran::new();
        let pool = with_pool(2, |pool| {
            for number in 0..4 {
                let ran = ran.clone();
                pool.inject(task(move |_| {
                    ran.note(number);
                    assert_ne!(number, 1, "the task's own panic, wanted by the test");
                }));
            }
        });
        ran.assert_each_once(4);
        let panicked: u64 = pool
            .stats()
            .iter()
            .map(|processor| processor.panicked)
            .sum();
        assert_eq!(panicked, 1);
    });
}

/// A task stops the pool, while another thread still injects. A failure: machines never exit (a
/// deadlock in `join`), or a task runs twice. A task that comes too late may stay where it is.
#[test]
fn a_task_stops_the_pool() {
    explore("a stop from inside", 2_000, || {
        let ran = Arc::new(AtomicUsize::new(0));
        let pool = Processors::new(Config::default().processors(2)).unwrap();
        let machines = Processors::start(&pool, Arc::new(Closures)).unwrap();
        let late = thread::spawn({
            let (pool, ran) = (Arc::clone(&pool), Arc::clone(&ran));
            move || {
                for _ in 0..2 {
                    let ran = Arc::clone(&ran);
                    pool.inject(task(move |_| {
                        ran.fetch_add(1, Ordering::SeqCst);
                    }));
                }
            }
        });
        pool.inject(task(Processors::stop));
        machines.join();
        late.join().unwrap();
        assert!(ran.load(Ordering::SeqCst) <= 2);
    });
}

/// Tasks block until the others have run, on fewer processors, while the number of these changes;
/// at the end nothing is left.
#[test]
fn calls_resizes_and_quiescence() {
    explore(
        "blocking calls, resizes, and the moment at which all is done",
        3_000,
        || {
            let ran = Arc::new(AtomicUsize::new(0));
            with_pool(2, |pool| {
                for _ in 0..2 {
                    let ran = Arc::clone(&ran);
                    pool.inject(task(move |pool| {
                        let inner = Arc::clone(&ran);
                        pool.schedule(task(move |_| {
                            inner.fetch_add(1, Ordering::SeqCst);
                        }));
                        pool.blocking(thread::yield_now);
                        ran.fetch_add(1, Ordering::SeqCst);
                    }));
                }
                let resizer = resizer(pool);
                pool.wait_quiescent(None).unwrap();
                assert_eq!(ran.load(Ordering::SeqCst), 4);
                resizer.join().unwrap();
            });
        },
    );
}

/// Two tasks schedule two more each, while the pool shrinks to one processor and is stopped at
/// once. A failure: the second processor's thread gives it up and moves its tasks to the global
/// queue, after the first one's thread has looked there and exited.
#[test]
fn a_shrink_and_the_stop_lose_nothing() {
    explore("a shrink and the stop lose nothing", 3_000, || {
        let ran = Ran::new();
        with_pool(2, |pool| {
            for root in 0..2 {
                let ran = ran.clone();
                pool.inject(task(move |pool| {
                    for child in 0..2 {
                        let ran = ran.clone();
                        pool.schedule(task(move |_| ran.note(2 * root + child)));
                    }
                    thread::yield_now();
                }));
            }
            pool.resize(1).unwrap();
        });
        ran.assert_each_once(4);
    });
}

/// The pool is stopped while a task is in a blocking call, which then waits for two others: one
/// that it makes itself, one from the queue. All of them block, so there are moments at which every
/// processor is idle and nothing is queued, although it is not over. A failure is a deadlock,
/// because the machines that should run them have exited.
#[test]
fn a_call_waits_in_a_pool_that_stops() {
    explore("a call under way at the stop is waited for", 3_000, || {
        with_pool(2, |pool| {
            let meeting = Arc::new(Barrier::new(3));
            let queued = Arc::clone(&meeting);
            pool.inject(task(move |pool| {
                pool.blocking(|| {
                    let made = Arc::clone(&meeting);
                    pool.inject(task(move |pool| {
                        pool.blocking(|| {
                            made.wait();
                        });
                    }));
                    meeting.wait();
                });
            }));
            pool.inject(task(move |pool| {
                pool.blocking(|| {
                    queued.wait();
                });
            }));
        });
    });
}

/// The number of processors changes while the pool is stopped: all new ones are there, or the
/// caller is told of the stop. A failure: another reason, or a thread that is never told to exit (a
/// deadlock in `join`).
#[test]
fn a_resize_meets_the_stop() {
    explore("a resize that meets the stop says so", 3_000, || {
        let resizer = Arc::new(Mutex::new(None));
        with_pool(1, |pool| {
            let resized = Arc::clone(pool);
            let handle = thread::spawn(move || resized.resize(2));
            *resizer.lock().unwrap() = Some(handle);
        });
        let resized = resizer.lock().unwrap().take().unwrap().join().unwrap();
        assert!(
            matches!(resized, Ok(1) | Err(PoolError::Stopped)),
            "{resized:?}"
        );
    });
}
