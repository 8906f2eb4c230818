//! Models of the idle protocol (the shipped `filch_processors::protocol::Idle`): no task waits
//! beside a sleeping processor, and no more processors are woken than needed.
//!
//! The queue is one relaxed counter, weaker than the real queues: all the ordering has to come from
//! the protocol. A processor's token is a flag instead of a parker: a model that ends with a task
//! left and no thread awake to take it is a lost wake-up, and is seen by looking, without a
//! deadlock.

mod external_tasks;

use filch_models::{Bound, beside};
use filch_processors::protocol::Idle;
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering, fence};

/// A pool reduced to its protocol.
struct Pool {
    idle: Idle,
    tasks: AtomicUsize,
    /// Per processor, how often it was told to wake up.
    tokens: Vec<AtomicUsize>,
}

impl Pool {
    fn new(processors: usize) -> Arc<Self> {
        Arc::new(Self {
            idle: Idle::new(processors),
            tasks: AtomicUsize::new(0),
            tokens: (0..processors).map(|_| AtomicUsize::new(0)).collect(),
        })
    }

    fn wake_one(&self) -> bool {
        let processor = self.idle.processor_to_wake(|| false);
        if let Some(processor) = processor {
            self.tokens[processor].fetch_add(1, Ordering::Relaxed);
        }
        processor.is_some()
    }

    /// Publishes a task, as a producer does; returns whether it woke a processor.
    fn publish(&self) -> bool {
        self.tasks.fetch_add(1, Ordering::Relaxed);
        self.wake_one()
    }

    /// Goes idle as a processor without work does; returns whether its second look found some.
    fn sleep(&self, own: usize, searching: bool) -> bool {
        self.idle.go_idle(own, searching);
        let work = self.tasks.load(Ordering::Relaxed) > 0;
        if work {
            self.wake_one();
        }
        work
    }

    /// Stops searching, as one that has found a task does; returns whether it woke another.
    fn stop_searching(&self) -> bool {
        if !self.idle.stop_searching() {
            return false;
        }
        fence(Ordering::SeqCst);
        self.tasks.load(Ordering::Relaxed) > 0 && self.wake_one()
    }

    /// Takes a task, as a search does: a queue's own operations are RMWs and see the latest.
    fn take(&self) -> bool {
        self.tasks
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |tasks| {
                tasks.checked_sub(1)
            })
            .is_ok()
    }

    fn tokens(&self) -> Vec<usize> {
        self.tokens
            .iter()
            .map(|token| token.load(Ordering::Relaxed))
            .collect()
    }
}

/// A producer publishes while the one processor goes to sleep. Either the producer sees it idle and
/// wakes it, or its second look finds the task and it wakes itself: exactly one wake-up.
#[test]
fn a_task_and_a_sleeper_do_not_miss_each_other() {
    Bound::exhaustive(10)
        .outcomes("one producer, one sleeper: exactly one wake-up", || {
            let pool = Pool::new(2);
            let sleeper = beside(&pool, |pool| pool.sleep(0, false));
            let by_producer = pool.publish();
            let seen_by_sleeper = sleeper.join().unwrap();
            assert_eq!(
                pool.tokens(),
                [1, 0],
                "a task is there and its processor sleeps"
            );
            (by_producer, seen_by_sleeper)
        })
        .assert_exactly([(true, false), (false, true), (true, true)]);
}

/// Two producers at once, one of two sleepers needed: one is woken, not two. The woken one
/// searches, and its search will find both tasks or wake the other.
#[test]
fn two_producers_wake_one_searcher() {
    Bound::exhaustive(15).check("two producers: one wake-up, no storm", || {
        let pool = Pool::new(2);
        pool.idle.go_idle(0, false);
        pool.idle.go_idle(1, false);
        let other = beside(&pool, Pool::publish);
        let own = pool.publish();
        let other = other.join().unwrap();
        assert!(own != other, "exactly one of them wakes a processor");
        assert_eq!(pool.tokens(), [0, 1], "the one that went idle last");
    });
}

/// A searcher finds a task just as a producer publishes another, sees one searching, and relies on
/// it. The searcher is the last one, so before it runs what it found it wakes the sleeper: the
/// second task does not wait for the first to end.
#[test]
fn the_last_searcher_wakes_another_before_it_runs() {
    Bound::exhaustive(20)
        .outcomes(
            "a task published beside a searcher is not left alone",
            || {
                let pool = Pool::new(2);
                pool.tasks.store(1, Ordering::Relaxed);
                pool.idle.go_idle(1, false);
                assert!(pool.idle.try_start_searching(2));
                let producer = beside(&pool, Pool::publish);
                assert!(pool.take());
                pool.stop_searching();
                let by_producer = producer.join().unwrap();
                assert_eq!(
                    pool.tokens()[1],
                    1,
                    "a task is left, and the other processor sleeps"
                );
                by_producer
            },
        )
        .assert_exactly([true, false]);
}

/// A searcher gives up just as a producer relies on it. Its going idle and its second look are the
/// same race as a sleeper's, with the searching count in between.
#[test]
fn a_searcher_that_gives_up_looks_once_more() {
    Bound::exhaustive(20).check(
        "a task published beside a searcher that gives up wakes one",
        || {
            let pool = Pool::new(2);
            pool.idle.go_idle(1, false);
            assert!(pool.idle.try_start_searching(2));
            let producer = beside(&pool, Pool::publish);
            let found = pool.take();
            if found {
                pool.stop_searching();
            } else {
                pool.sleep(0, true);
            }
            producer.join().unwrap();
            let awake: usize = pool.tokens().iter().sum();
            assert!(
                found || awake == 1,
                "the task is left and both sleep, or both were woken for it"
            );
        },
    );
}

/// Two processors search. One finds two tasks, moves both into its own deque, and stops searching
/// while the other still does; so it wakes none. The other looked into that deque too early, gives
/// up, and looks once more: now it must see them.
#[test]
fn what_a_searcher_moved_is_seen_by_the_one_that_gives_up() {
    Bound::exhaustive(20)
        .outcomes("what was moved to a third queue is not left alone", || {
            let pool = Pool::new(4);
            assert!(pool.idle.try_start_searching(4));
            assert!(pool.idle.try_start_searching(4));
            let finder = beside(&pool, |pool| {
                // What it has moved reaches its own deque.
                pool.tasks.store(1, Ordering::Relaxed);
                pool.stop_searching()
            });
            let found = pool.tasks.load(Ordering::Relaxed) > 0;
            let mut seen = found;
            if found {
                pool.stop_searching();
            } else {
                seen = pool.sleep(1, true);
            }
            let by_finder = finder.join().unwrap();
            assert!(
                seen || by_finder,
                "a task lies in a deque, and its neighbour sleeps"
            );
            (found, by_finder)
        })
        .assert_reached([(true, false), (false, true), (false, false)]);
}

/// A running processor claims a batch of the global queue. While it has the tasks in hand they are
/// in no queue: a processor that is going to sleep looks at all of them in vain. So the runner
/// wakes one when the tasks are in its deque.
#[test]
fn a_batch_in_hand_is_announced_when_it_lands() {
    Bound::exhaustive(20)
        .outcomes("a batch taken while another goes to sleep", || {
            let pool = Pool::new(2);
            pool.tasks.store(1, Ordering::Relaxed);
            let sleeper = beside(&pool, |pool| pool.sleep(0, false));
            assert!(pool.take(), "the batch is in hand");
            let announced = pool.publish();
            let seen = sleeper.join().unwrap();
            assert_eq!(
                pool.tokens(),
                [1, 0],
                "tasks lie in a deque, and its neighbour sleeps"
            );
            (seen, announced)
        })
        // The first is the one that the announcement is for: the second look fell between the claim
        // and the landing.
        .assert_reached([(false, true), (true, false)]);
}

/// Two threads wake and return processors, while a third processor goes idle for the first time:
/// one is popped and pushed under the other's hands, onto another neighbour than before. The stack
/// loses none, doubles none, and the searching count comes back to zero. A failure would be a pop
/// that believed an old `below`.
#[test]
fn the_idle_stack_keeps_all() {
    Bound::preemptions(4, 80).check("pop, push and pop again: every processor once", || {
        let pool = Pool::new(3);
        pool.idle.go_idle(0, false);
        pool.idle.go_idle(1, false);
        let wake_and_return = |pool: &Pool| {
            if let Some(woken) = pool.idle.processor_to_wake(|| false) {
                pool.idle.go_idle(woken, true);
            }
        };
        let other = beside(&pool, move |pool| {
            wake_and_return(pool);
            wake_and_return(pool);
        });
        wake_and_return(&pool);
        pool.idle.go_idle(2, false);
        wake_and_return(&pool);
        other.join().unwrap();
        let (mut idle, searching) = pool.idle.list();
        idle.sort_unstable();
        assert_eq!((idle, searching), (vec![0, 1, 2], 0));
    });
}
