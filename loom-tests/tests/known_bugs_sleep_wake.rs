//! The textbook ways to lose a wake-up, each caught. The protocol here is the idle list reduced to
//! one flag, but for external tasks, which are taken beside the shipped one.

use filch_processors::protocol::Idle;
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use loom_tests::{Bound, beside};

#[derive(Default)]
struct Pool {
    task: AtomicBool,
    /// A task that has given way: in a queue of its own.
    yielded: AtomicBool,
    idle: AtomicBool,
    token: AtomicBool,
    searching: AtomicBool,
}

impl Pool {
    fn assert_not_lost(&self) {
        assert!(
            self.token.load(Ordering::Relaxed),
            "a task is there and its processor sleeps"
        );
    }
}

fn race(producer: fn(&Pool), sleeper: fn(&Pool)) {
    let pool = Arc::new(Pool::default());
    let sleeping = beside(&pool, sleeper);
    producer(&pool);
    sleeping.join().unwrap();
    pool.assert_not_lost();
}

/// Publish; fence; wake an idle processor.
fn correct_producer(pool: &Pool) {
    pool.task.store(true, Ordering::Release);
    fence(Ordering::SeqCst);
    if pool.idle.load(Ordering::Acquire) {
        pool.token.store(true, Ordering::Relaxed);
    }
}

/// Register; fence; look once more.
fn correct_sleeper(pool: &Pool) {
    pool.idle.store(true, Ordering::Release);
    fence(Ordering::SeqCst);
    if pool.task.load(Ordering::Acquire) {
        pool.token.store(true, Ordering::Relaxed);
    }
}

/// One of the two has a mistake, which is caught.
fn caught(claim: &str, producer: fn(&Pool), sleeper: fn(&Pool)) {
    let model = move || race(producer, sleeper);
    Bound::exhaustive(2).refute(claim, "its processor sleeps", model);
}

#[test]
fn with_both_fences_nothing_is_lost() {
    Bound::exhaustive(10).check("publish, fence, look; register, fence, look", || {
        race(correct_producer, correct_sleeper);
    });
    // Mistake: the producer has no fence. Its store may still be on its way when it reads the
    // flag: release and acquire order neither a store before a later load.
    let producer = |pool: &Pool| {
        pool.task.store(true, Ordering::Release);
        if pool.idle.load(Ordering::Acquire) {
            pool.token.store(true, Ordering::Relaxed);
        }
    };
    let claim = "publish, look for idlers, no fence between";
    caught(claim, producer, correct_sleeper);
    // Mistake: the sleeper has no fence. The same, mirrored.
    let claim = "register, look again, no fence between";
    caught(claim, correct_producer, |pool| {
        pool.idle.store(true, Ordering::Release);
        if pool.task.load(Ordering::Acquire) {
            pool.token.store(true, Ordering::Relaxed);
        }
    });
    // Mistake: the sleeper looks first and registers afterwards. Fences do not help: the task comes
    // in between.
    caught("look, then register", correct_producer, |pool| {
        let task = pool.task.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        pool.idle.store(true, Ordering::Release);
        if task {
            pool.token.store(true, Ordering::Relaxed);
        }
    });
}

/// A worker has a task give way, and goes on with another one.
fn give_way(pool: &Pool) {
    pool.yielded.store(true, Ordering::Release);
    fence(Ordering::SeqCst);
    if pool.idle.load(Ordering::Acquire) {
        pool.token.store(true, Ordering::Relaxed);
    }
}

#[test]
fn both_queues_are_in_the_second_look() {
    Bound::exhaustive(10).check(
        "give way, fence, look; register, fence, look at both queues",
        || {
            race(give_way, |pool| {
                pool.idle.store(true, Ordering::Release);
                fence(Ordering::SeqCst);
                if pool.task.load(Ordering::Acquire) || pool.yielded.load(Ordering::Acquire) {
                    pool.token.store(true, Ordering::Relaxed);
                }
            });
        },
    );
    // Mistake: the second look leaves out the queue of those that have given way.
    let claim = "register, fence, look at the global queue alone";
    caught(claim, give_way, correct_sleeper);
}

/// Mistake: a searcher that found a task runs it without waking another. The producer that saw it
/// searching relied on it, and its own task waits for the end of the other.
#[test]
fn the_last_searcher_just_runs() {
    Bound::exhaustive(2).refute("stop searching, wake none", "its processor sleeps", || {
        let pool = Arc::new(Pool::default());
        pool.idle.store(true, Ordering::Relaxed);
        pool.searching.store(true, Ordering::Relaxed);
        let producer = beside(&pool, |pool| {
            pool.task.store(true, Ordering::Release);
            fence(Ordering::SeqCst);
            if !pool.searching.load(Ordering::Acquire) && pool.idle.load(Ordering::Acquire) {
                pool.token.store(true, Ordering::Relaxed);
            }
        });
        // It has found another task, and goes off to run it.
        pool.searching.store(false, Ordering::Release);
        producer.join().unwrap();
        pool.assert_not_lost();
    });
}

/// Two processors and two external tasks, which others put there.
struct ExternalTasks {
    idle: Idle,
    left: AtomicUsize,
}

impl ExternalTasks {
    fn take(&self) -> bool {
        let take = |left: usize| left.checked_sub(1);
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
    }
}

/// The second processor has been woken for the external tasks; the first one may not search, as the
/// other one counts as searching.
fn refused(look: fn(&ExternalTasks) -> bool) {
    let external_tasks = Arc::new(ExternalTasks {
        idle: Idle::new(2),
        left: AtomicUsize::new(2),
    });
    external_tasks.idle.go_idle(1, false);
    assert_eq!(external_tasks.idle.processor_to_wake(|| false), Some(1));
    let woken = beside(&external_tasks, |external_tasks| {
        assert!(external_tasks.take(), "one of two");
        _ = external_tasks.idle.stop_searching();
    });
    let may_search = external_tasks.idle.try_start_searching(2);
    let found = if may_search {
        external_tasks.take()
    } else {
        look(&external_tasks)
    };
    let left = external_tasks.left.load(Ordering::Relaxed);
    woken.join().unwrap();
    assert!(found || left == 0, "it sleeps beside an external task");
}

#[test]
fn refused_it_takes_an_external_task() {
    Bound::exhaustive(30).check("may not search, takes an external task", || {
        refused(ExternalTasks::take);
    });
    // Mistake: an external task takes a search. The processor that may not search sleeps beside the
    // source, and the one that was woken for an external task wakes it in return, for each external
    // task anew.
    Bound::exhaustive(2).refute(
        "may not search, sleeps",
        "it sleeps beside an external task",
        || {
            refused(|_| false);
        },
    );
}
