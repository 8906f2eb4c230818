//! Quiescence: "nothing can run any more" is said only when it is so, and always when it is so.

use filch_processors::protocol::{Hold, Turn, Work};
use filch_sync::atomic::Ordering;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

use crate::pool::Pool;

/// One processor, whose machine takes the last task, schedules another one while it runs, takes
/// that, and goes idle, as somebody asks. There is no moment with everybody idle before the end.
/// Yes means that both have run.
#[test]
fn not_before_the_last_task_has_run() {
    let outcomes = Outcomes::new();
    check(
        "quiescent: the last processor is idle, and nothing is left",
        Bound::exhaustive(10),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(1);
                let hold = holds.remove(0);
                pool.publish();
                let machine = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || {
                        assert!(pool.take());
                        pool.queues.deques[0].store(1, Ordering::Relaxed);
                        pool.take_from(0);
                        pool.rest(hold, 0);
                    }
                });
                let quiescent = pool.is_quiescent();
                if quiescent {
                    assert_eq!(pool.queues.global.load(Ordering::Relaxed), 0);
                    // What happened on the processor has happened: loom would report a race.
                    let (hold, _) = pool.crew.take_idle().expect("it is idle");
                    pool.uses(&hold);
                }
                machine.join().unwrap();
                outcomes.observe(quiescent);
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// Two processors. A task wanders: the first machine is woken for one, pushes another into its
/// deque, wakes the second, and goes idle; the second steals it and goes idle. Somebody asks
/// meanwhile, and looks at the queues one after the other. Each queue is empty at some moment; all
/// at once they are so only at the end, when both have slept again.
#[test]
fn not_while_a_task_wanders() {
    let outcomes = Outcomes::new();
    check(
        "a task that is always elsewhere is not overlooked",
        Bound::exhaustive(80),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(2);
                let (first, second) = (holds.remove(0), holds.remove(0));
                pool.rest(second, 1);
                let machines = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || {
                        pool.queues.deques[0].store(1, Ordering::Relaxed);
                        pool.crew.wake_one();
                        let second = pool.awake(1).expect("the other one is woken");
                        // It steals the task, and runs it; the first one finds nothing and goes
                        // idle.
                        pool.take_from(0);
                        pool.crew.stop_searching(&pool.queues);
                        pool.rest(first, 0);
                        pool.queues.deques[1].store(1, Ordering::Relaxed);
                        pool.take_from(1);
                        pool.rest(second, 1);
                        true
                    }
                });
                let quiescent = pool.is_quiescent();
                if quiescent {
                    for _ in 0..2 {
                        let (hold, _) = pool.crew.take_idle().expect("both are idle");
                        pool.uses(&hold);
                    }
                }
                machines.join().unwrap();
                outcomes.observe(quiescent);
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// One processor. A blocking call ends as somebody asks; the machine then schedules a task, which
/// nobody else could know of. While the call is under way everybody is idle and every queue is
/// empty, and yet it is not the end.
#[test]
fn not_during_a_blocking_call() {
    let outcomes = Outcomes::new();
    check(
        "a blocking call under way is something that goes on",
        Bound::exhaustive(130),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(1);
                pool.hand_off(holds.remove(0), 0);
                let caller = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || {
                        let hold = pool.back(0);
                        pool.queues.deques[0].store(1, Ordering::Relaxed);
                        pool.take_from(0);
                        pool.rest(hold, 0);
                    }
                });
                let quiescent = pool.is_quiescent();
                if quiescent {
                    let (hold, _) = pool.crew.take_idle().expect("it is idle");
                    pool.uses(&hold);
                    assert_eq!(pool.times_used(&hold), 5, "the call has not come back");
                }
                caller.join().unwrap();
                outcomes.observe(quiescent);
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// A task comes from outside and is done, by a machine that was asleep, as somebody asks. Before
/// the task came is a moment, and after it was run. In between is none: never yes with the task in
/// a queue whose producer has done its part.
#[test]
fn not_between_a_task_and_its_wake_up() {
    let outcomes = Outcomes::new();
    check(
        "quiescent: not after a publication that is over",
        Bound::exhaustive(20),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(1);
                pool.rest(holds.remove(0), 0);
                let producer = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || {
                        pool.publish();
                        pool.is_quiescent()
                    }
                });
                let asked_from_outside = pool.is_quiescent();
                let asked_by_producer = producer.join().unwrap();
                assert!(
                    !asked_by_producer,
                    "its task is there, and waits for its machine"
                );
                assert!(pool.awake(0).is_some());
                outcomes.observe(asked_from_outside);
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// Somebody waits for the moment as the last machine goes idle: it sees that, or is told. A failure
/// is a deadlock, which loom reports.
#[test]
fn who_waits_is_told() {
    check(
        "who waits for quiescence does not miss it",
        Bound::exhaustive(40),
        || {
            let (pool, mut holds) = Pool::new(1);
            let hold = holds.remove(0);
            let observer = thread::spawn({
                let pool = Arc::clone(&pool);
                move || {
                    pool.pass();
                    pool.crew.await_quiescence(&pool.queues)
                }
            });
            pool.rest(hold, 0);
            assert_eq!(observer.join().unwrap(), Ok(()));
        },
    );
}

/// Somebody waits twice, the second time for a task that came in between. The machine has seen the
/// moment before that task, and is slow to say so: its report must not answer the second wait.
#[test]
fn an_old_moment_answers_no_later_wait() {
    check(
        "who waits is told of a moment after the question",
        Bound::preemptions(5, 1_000),
        || {
            let (pool, mut holds) = Pool::new(1);
            let hold = holds.remove(0);
            let parker = pool.crew.enter(0);
            let machine = thread::spawn({
                let pool = Arc::clone(&pool);
                move || {
                    pool.rest(hold, 0);
                    let Turn::Search(hold) = pool.crew.wait(0, &parker) else {
                        panic!("it is woken for the task");
                    };
                    assert!(pool.take());
                    pool.crew.stop_searching(&pool.queues);
                    pool.rest(hold, 0);
                }
            });
            assert_eq!(pool.crew.await_quiescence(&pool.queues), Ok(()));
            assert!(pool.publish());
            assert_eq!(pool.crew.await_quiescence(&pool.queues), Ok(()));
            assert_eq!(pool.queues.global.load(Ordering::Relaxed), 0, "it waits");
            machine.join().unwrap();
        },
    );
}

/// As `who_waits_is_told`, but the last one is given up for good instead, between two tasks.
#[test]
fn who_waits_is_told_by_one_that_retires() {
    check(
        "who waits for quiescence does not miss a retirement",
        Bound::exhaustive(40),
        || {
            let (pool, mut holds) = Pool::new(2);
            let (first, second) = (holds.remove(0), holds.remove(0));
            pool.rest(first, 0);
            pool.crew.shrink(1, &pool.queues);
            let observer = thread::spawn({
                let pool = Arc::clone(&pool);
                move || {
                    pool.pass();
                    pool.crew.await_quiescence(&pool.queues)
                }
            });
            pool.pass();
            pool.crew.retire(second, 1, &pool.queues).unwrap();
            assert_eq!(observer.join().unwrap(), Ok(()));
        },
    );
}

/// Two processors, the first one idle. The second one is given up, and its last task moved to the
/// global queue, as somebody asks: there is never a moment without a task. A failure would be to
/// miss the task, but to count the processor no more.
#[test]
fn not_as_a_processor_retires() {
    check(
        "a task that is moved is not overlooked",
        Bound::exhaustive(10),
        || {
            let (pool, mut holds) = Pool::new(2);
            let (first, second) = (holds.remove(0), holds.remove(0));
            pool.rest(first, 0);
            pool.crew.shrink(1, &pool.queues);
            pool.queues.deques[1].store(1, Ordering::Relaxed);
            let machine = thread::spawn({
                let pool = Arc::clone(&pool);
                move || {
                    pool.pass();
                    pool.crew.retire(second, 1, &pool.queues).unwrap();
                }
            });
            assert!(!pool.is_quiescent(), "a task is there");
            machine.join().unwrap();
        },
    );
}

/// The same, when the second one is idle, with a task that nobody has heard of yet, and is laid
/// down by the resizer, as the first one goes idle and somebody asks.
#[test]
fn not_as_a_processor_is_swept() {
    check(
        "a task that is moved by a sweep is not overlooked",
        Bound::preemptions(4, 50_000),
        || {
            let (pool, mut holds) = Pool::new(2);
            let (first, second) = (holds.remove(0), holds.remove(0));
            pool.rest(second, 1);
            pool.queues.deques[1].store(1, Ordering::Relaxed);
            let resizer = thread::spawn({
                let pool = Arc::clone(&pool);
                move || {
                    pool.pass();
                    pool.crew.shrink(1, &pool.queues);
                }
            });
            let machine = thread::spawn({
                let pool = Arc::clone(&pool);
                move || pool.rest(first, 0)
            });
            assert!(!pool.is_quiescent(), "a task is there");
            resizer.join().unwrap();
            machine.join().unwrap();
        },
    );
}

/// One processor, which searches. A producer publishes a task and relies on the searcher, which
/// gives up and goes idle; before its second look somebody asks, and sees everybody idle. It must
/// see the task too: nobody else is going to be woken for it by its producer.
#[test]
fn not_before_the_second_look() {
    /// The second look has not happened yet.
    struct NotYet;

    impl Work for NotYet {
        fn exists_beside(&self, _: impl Fn(usize) -> bool) -> bool {
            false
        }

        fn evacuate(&self, _: &Hold) -> bool {
            false
        }
    }

    let outcomes = Outcomes::new();
    check(
        "a task that was left to a searcher is not overlooked",
        Bound::preemptions(3, 100),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, hold) = searching();
                let producer = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || pool.publish()
                });
                let searcher = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || {
                        pool.pass();
                        pool.crew.rest(hold, 0, true, &NotYet);
                    }
                });
                let quiescent = pool.is_quiescent();
                let woken_by_producer = producer.join().unwrap();
                searcher.join().unwrap();
                assert!(
                    !quiescent || woken_by_producer,
                    "said to be over, beside a task that was left to a searcher"
                );
                outcomes.observe((quiescent, woken_by_producer));
            }
        },
    );
    outcomes.assert_exactly([(false, false), (false, true), (true, true)]);
}

/// The same, a little later: the second look has found the task, and the machine has taken it, and
/// runs it. Who has published it, and asks, sees the queue empty, and must then see that somebody
/// was woken.
#[test]
fn not_while_the_task_that_was_left_runs() {
    check(
        "a task that was taken is not forgotten",
        Bound::exhaustive(40),
        || {
            let (pool, hold) = searching();
            let searcher = thread::spawn({
                let pool = Arc::clone(&pool);
                move || {
                    pool.pass();
                    pool.crew.rest(hold, 0, true, &pool.queues);
                    let hold = pool.awake(0);
                    if hold.is_some() {
                        pool.pass();
                        pool.take();
                    }
                    hold
                }
            });
            pool.publish();
            assert!(!pool.is_quiescent(), "a task is there, or runs");
            let _held = searcher.join().unwrap();
        },
    );
}

/// One processor, whose machine was woken, has done everything there was, and still counts as
/// searching.
fn searching() -> (Arc<Pool>, Hold) {
    let (pool, mut holds) = Pool::new(1);
    pool.rest(holds.remove(0), 0);
    pool.publish();
    let hold = pool.awake(0).expect("it was woken");
    assert!(pool.take());
    (pool, hold)
}
