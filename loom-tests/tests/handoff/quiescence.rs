//! Quiescence: "nothing can run any more" is said only when it is so, and always when it is so.

use filch_models::{Bound, beside};
use filch_processors::protocol::{Grant, Permit, Work};
use filch_sync::Arc;
use filch_sync::atomic::Ordering;

use super::pool::Pool;

/// One processor, whose machine takes the last task, schedules another one while it runs, takes
/// that, and goes idle, as an observer asks. There is no moment with all processors idle before the
/// end. Yes means that both have run.
#[test]
fn not_before_the_last_task_has_run() {
    Bound::exhaustive(10)
        .outcomes(
            "quiescent: the last processor is idle, and nothing is left",
            || {
                let (pool, [permit]) = Pool::new();
                pool.publish();
                let machine = beside(&pool, |pool| {
                    assert!(pool.take());
                    pool.queues.deques[0].store(1, Ordering::Relaxed);
                    pool.take_from(0);
                    pool.go_idle(permit, 0);
                });
                let quiescent = pool.is_quiescent();
                if quiescent {
                    assert_eq!(pool.queues.global.load(Ordering::Relaxed), 0);
                    // What happened on the processor has happened: loom would report a race.
                    let (permit, _) = pool.coordinator.take_idle().expect("it is idle");
                    pool.uses(&permit);
                }
                machine.join().unwrap();
                quiescent
            },
        )
        .assert_exactly([true, false]);
}

/// Two processors. A task wanders: the first machine is woken for one, pushes another into its
/// deque, wakes the second, and goes idle; the second steals it and goes idle. An observer asks
/// meanwhile, and looks at the queues one after the other. Each queue is empty at some moment; all
/// at once they are so only at the end, when both have slept again.
#[test]
fn not_while_a_task_wanders() {
    Bound::exhaustive(80)
        .outcomes("a task that is always elsewhere is not overlooked", || {
            let (pool, [first, second]) = Pool::new();
            pool.go_idle(second, 1);
            let machines = beside(&pool, |pool| {
                pool.queues.deques[0].store(1, Ordering::Relaxed);
                pool.coordinator.wake_one();
                let second = pool.awake(1).expect("the other one is woken");
                // It steals the task, and runs it; the first one finds nothing and goes
                // idle.
                pool.take_from(0);
                pool.coordinator.stop_searching(&pool.queues);
                pool.go_idle(first, 0);
                pool.queues.deques[1].store(1, Ordering::Relaxed);
                pool.take_from(1);
                pool.go_idle(second, 1);
                true
            });
            let quiescent = pool.is_quiescent();
            if quiescent {
                for _ in 0..2 {
                    let (permit, _) = pool.coordinator.take_idle().expect("both are idle");
                    pool.uses(&permit);
                }
            }
            machines.join().unwrap();
            quiescent
        })
        .assert_exactly([true, false]);
}

/// One processor. A blocking call ends as an observer asks; the machine then schedules a task,
/// which no other thread could know of. While the call is under way all processors are idle and all
/// queues empty, and yet it is not the end.
#[test]
fn not_during_a_blocking_call() {
    Bound::exhaustive(130)
        .outcomes(
            "a blocking call under way is something that goes on",
            || {
                let (pool, [permit]) = Pool::new();
                pool.hand_off(permit, 0);
                let caller = beside(&pool, |pool| {
                    let permit = pool.back(0);
                    pool.queues.deques[0].store(1, Ordering::Relaxed);
                    pool.take_from(0);
                    pool.go_idle(permit, 0);
                });
                let quiescent = pool.is_quiescent();
                if quiescent {
                    let (permit, _) = pool.coordinator.take_idle().expect("it is idle");
                    pool.uses(&permit);
                    assert_eq!(pool.times_used(&permit), 5, "the call has not come back");
                }
                caller.join().unwrap();
                quiescent
            },
        )
        .assert_exactly([true, false]);
}

/// A task comes from outside and is done, by a machine that was asleep, as an observer asks. Before
/// the task came is a moment, and after it was run. In between is none: never yes with the task in
/// a queue whose producer has done its part.
#[test]
fn not_between_a_task_and_its_wake_up() {
    Bound::exhaustive(20)
        .outcomes("quiescent: not after a publication that is over", || {
            let pool = Pool::idle::<1>();
            let producer = beside(&pool, |pool| {
                pool.publish();
                pool.is_quiescent()
            });
            let asked_from_outside = pool.is_quiescent();
            let asked_by_producer = producer.join().unwrap();
            assert!(
                !asked_by_producer,
                "its task is there, and waits for its machine"
            );
            assert!(pool.awake(0).is_some());
            asked_from_outside
        })
        .assert_exactly([true, false]);
}

/// An observer waits for the moment as the last machine goes idle: it sees that, or is told. A
/// failure is a deadlock, which loom reports.
#[test]
fn an_observer_is_told() {
    Bound::exhaustive(40).check("an observer of quiescence does not miss it", || {
        let (pool, [permit]) = Pool::new();
        let observer = beside(&pool, |pool| {
            pool.pass();
            pool.await_quiescence()
        });
        pool.go_idle(permit, 0);
        assert_eq!(observer.join().unwrap(), Ok(true));
    });
}

/// An observer waits twice, the second time for a task that came in between. The machine has seen
/// the moment before that task, and is slow to say so: its report must not answer the second wait.
#[test]
fn an_old_moment_answers_no_later_wait() {
    Bound::preemptions(5, 1_000).check(
        "an observer is told of a moment after the question",
        || {
            let (pool, [permit]) = Pool::new();
            let parker = pool.coordinator.enter(0);
            let machine = beside(&pool, move |pool| {
                pool.go_idle(permit, 0);
                let Grant::Search(permit) = pool.coordinator.wait(0, &parker) else {
                    panic!("it is woken for the task");
                };
                assert!(pool.take());
                pool.coordinator.stop_searching(&pool.queues);
                pool.go_idle(permit, 0);
            });
            assert_eq!(pool.await_quiescence(), Ok(true));
            assert!(pool.publish());
            assert_eq!(pool.await_quiescence(), Ok(true));
            assert_eq!(pool.queues.global.load(Ordering::Relaxed), 0, "it waits");
            machine.join().unwrap();
        },
    );
}

/// As `an_observer_is_told`, but the last processor is given up for good instead, between two
/// tasks.
#[test]
fn an_observer_is_told_by_one_that_retires() {
    Bound::exhaustive(40).check(
        "an observer of quiescence does not miss a retirement",
        || {
            let (pool, [first, second]) = Pool::new();
            pool.go_idle(first, 0);
            pool.coordinator.shrink(1, &pool.queues);
            let observer = beside(&pool, |pool| {
                pool.pass();
                pool.await_quiescence()
            });
            pool.pass();
            pool.coordinator.retire(second, 1, &pool.queues).unwrap();
            assert_eq!(observer.join().unwrap(), Ok(true));
        },
    );
}

/// Two processors, the first one idle. The second one is given up, and its last task moved to the
/// global queue, as an observer asks: there is never a moment without a task. A failure would be to
/// miss the task, but to count the processor no more.
#[test]
fn not_as_a_processor_retires() {
    Bound::exhaustive(10).check("a task that is moved is not overlooked", || {
        let (pool, [first, second]) = Pool::new();
        pool.go_idle(first, 0);
        pool.coordinator.shrink(1, &pool.queues);
        pool.queues.deques[1].store(1, Ordering::Relaxed);
        let machine = beside(&pool, |pool| {
            pool.pass();
            pool.coordinator.retire(second, 1, &pool.queues).unwrap();
        });
        assert!(!pool.is_quiescent(), "a task is there");
        machine.join().unwrap();
    });
}

/// The same, when the second one is idle, with a task that has not been announced yet, and is
/// deactivated by the resizer, as the first one goes idle and an observer asks.
#[test]
fn not_as_a_processor_is_swept() {
    Bound::preemptions(4, 110_000).check(
        "a task that is moved by a sweep is not overlooked",
        || {
            let (pool, [first, second]) = Pool::new();
            pool.go_idle(second, 1);
            pool.queues.deques[1].store(1, Ordering::Relaxed);
            let resizer = beside(&pool, |pool| {
                pool.pass();
                pool.coordinator.shrink(1, &pool.queues);
            });
            let machine = beside(&pool, |pool| pool.go_idle(first, 0));
            assert!(!pool.is_quiescent(), "a task is there");
            resizer.join().unwrap();
            machine.join().unwrap();
        },
    );
}

/// One processor, which searches. A producer publishes a task and relies on the searcher, which
/// gives up and goes idle; before its second look an observer asks, and sees all processors idle.
/// It must see the task too: the producer is not going to wake any machine for it.
#[test]
fn not_before_the_second_look() {
    /// The second look has not happened yet.
    struct NotYet;

    impl Work for NotYet {
        fn exists_beside(&self, _: impl Fn(usize) -> bool) -> bool {
            false
        }

        fn evacuate(&self, _: &Permit) -> bool {
            false
        }
    }

    Bound::preemptions(3, 100)
        .outcomes(
            "a task that was left to a searcher is not overlooked",
            || {
                let (pool, permit) = searching();
                let producer = beside(&pool, Pool::publish);
                let searcher = beside(&pool, |pool| {
                    pool.pass();
                    pool.coordinator.go_idle(permit, 0, true, &NotYet);
                });
                let quiescent = pool.is_quiescent();
                let woken_by_producer = producer.join().unwrap();
                searcher.join().unwrap();
                assert!(
                    !quiescent || woken_by_producer,
                    "said to be over, beside a task that was left to a searcher"
                );
                (quiescent, woken_by_producer)
            },
        )
        .assert_exactly([(false, false), (false, true), (true, true)]);
}

/// The same, a little later: the second look has found the task, and the machine has taken it, and
/// runs it. The producer asks, sees the queue empty, and must then see that a machine was woken.
#[test]
fn not_while_the_task_that_was_left_runs() {
    Bound::exhaustive(40).check("a task that was taken is not forgotten", || {
        let (pool, permit) = searching();
        let searcher = beside(&pool, |pool| {
            pool.pass();
            pool.coordinator.go_idle(permit, 0, true, &pool.queues);
            let permit = pool.awake(0);
            if permit.is_some() {
                pool.pass();
                pool.take();
            }
            permit
        });
        pool.publish();
        assert!(!pool.is_quiescent(), "a task is there, or runs");
        let _held = searcher.join().unwrap();
    });
}

/// One processor, whose machine was woken, has done everything there was, and still counts as
/// searching.
fn searching() -> (Arc<Pool>, Permit) {
    let pool = Pool::idle::<1>();
    pool.publish();
    let permit = pool.awake(0).expect("it was woken");
    assert!(pool.take());
    (pool, permit)
}
