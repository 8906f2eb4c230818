//! Resizes: processors are given up and taken up while others go idle, publish and ask.

use std::sync::atomic::Ordering;

use filch_models::{Bound, beside};

use super::pool::Pool;

/// There is to be one processor instead of two, just as the second one goes idle. Either it sees
/// the new number, or the sweep sees it on the stack: it is inactive in the end, and its machine a
/// spare, so that a task that is published then goes to the first.
#[test]
fn fewer_as_one_goes_idle() {
    Bound::exhaustive(49_000).check("a processor too many does not stay on the stack", || {
        let (pool, [first, second]) = Pool::new();
        pool.go_idle(first, 0);
        let resizer = beside(&pool, |pool| {
            pool.pass();
            pool.coordinator.shrink(1, &pool.queues);
        });
        pool.go_idle(second, 1);
        resizer.join().unwrap();
        assert_eq!(pool.coordinator.take_grant(1), None, "it is a spare");
        let (permit, machine) = pool.coordinator.take_idle().expect("the first one is idle");
        assert_eq!((permit.processor(), machine), (0, 0));
        pool.uses(&permit);
        assert!(pool.coordinator.take_idle().is_none());
    });
}

/// A task is published just as one of two idle processors is deactivated. For a moment the sweep
/// has both in its hands, and the producer finds none idle; then the sweep looks once more. The
/// first processor's machine is woken, or the second one's, which gives it up after it has woken
/// the first.
#[test]
fn fewer_as_a_task_is_published() {
    Bound::exhaustive(34_000)
        .outcomes("a task published during a sweep is not left alone", || {
            let pool = Pool::idle::<2>();
            let producer = beside(&pool, Pool::publish);
            pool.pass();
            pool.coordinator.shrink(1, &pool.queues);
            producer.join().unwrap();
            // It was popped before the sweep came. It finds the task; or, as here, it just
            // gives the processor up.
            let outcome = pool.retires_if_awake(1);
            pool.assert_first_is_awake();
            outcome
        })
        .assert_exactly([true, false]);
}

/// A running machine gives its processor up, with a task in its deque, as the other one goes to
/// sleep: its second look finds the task in the deque, or in the global queue, or the move is
/// announced. In between it is in neither.
#[test]
fn what_a_retired_processor_had_is_announced() {
    Bound::exhaustive(70).check("the tasks of a retired processor wake one", || {
        let (pool, [first, second]) = Pool::new();
        pool.queues.deques[1].store(1, Ordering::Relaxed);
        pool.coordinator.shrink(1, &pool.queues);
        let sleeper = beside(&pool, |pool| pool.go_idle(first, 0));
        pool.pass();
        pool.uses(&second);
        pool.coordinator.retire(second, 1, &pool.queues).unwrap();
        sleeper.join().unwrap();
        assert_eq!(pool.queues.global.load(Ordering::Relaxed), 1);
        pool.assert_first_is_awake();
    });
}

/// The second processor is idle, and a task is left in its deque, for which the first one's machine
/// was to look. That one goes to sleep as the sweep moves the task. In between it is in no queue.
#[test]
fn what_a_swept_processor_had_is_announced() {
    Bound::preemptions(3, 880)
        .outcomes("the tasks of a swept processor wake one", || {
            let (pool, [first, second]) = Pool::new();
            pool.go_idle(second, 1);
            pool.queues.deques[1].store(1, Ordering::Relaxed);
            let sleeper = beside(&pool, |pool| pool.go_idle(first, 0));
            pool.pass();
            pool.coordinator.shrink(1, &pool.queues);
            sleeper.join().unwrap();
            // The first one's machine saw the task in the deque. It is given up now.
            let outcome = pool.retires_if_awake(1);
            assert_eq!(pool.queues.global.load(Ordering::Relaxed), 1);
            pool.assert_first_is_awake();
            outcome
        })
        .assert_exactly([true, false]);
}

/// The first processor goes idle as the sweep has the second one in its hands. Nobody but the sweep
/// can tell the observer that nothing runs any more.
#[test]
fn an_observer_is_told_by_a_sweep() {
    Bound::preemptions(3, 76_000).check("an observer of quiescence does not miss a sweep", || {
        let (pool, [first, second]) = Pool::new();
        pool.go_idle(second, 1);
        let observer = beside(&pool, Pool::await_quiescence);
        let sleeper = beside(&pool, |pool| pool.go_idle(first, 0));
        pool.pass();
        pool.coordinator.shrink(1, &pool.queues);
        sleeper.join().unwrap();
        assert_eq!(observer.join().unwrap(), Ok(true));
    });
}

/// The number is raised again just as the second processor's machine gives it up: it keeps the
/// processor, or deactivates it and the resize activates it for another machine. One of them has it
/// in the end, not both.
#[test]
fn fewer_and_more_again() {
    Bound::exhaustive(10)
        .outcomes("a processor given up and taken up has one machine", || {
            let (pool, [first, second]) = Pool::new();
            pool.coordinator.shrink(1, &pool.queues);
            let resizer = beside(&pool, |pool| {
                pool.pass();
                assert!(pool.coordinator.grow(1, &pool.queues));
            });
            pool.pass();
            pool.uses(&second);
            let kept = pool.coordinator.retire(second, 1, &pool.queues).err();
            resizer.join().unwrap();
            // The machine that gave it up is a spare, and is the one that waits with it.
            let given = pool.coordinator.take_idle();
            if let Some((permit, machine)) = &given {
                assert_eq!(*machine, 1);
                pool.uses(permit);
            }
            let outcome = (kept.is_some(), given.is_some());
            if let Some(permit) = &kept {
                pool.uses(permit);
            }
            drop((first, kept, given));
            outcome
        })
        .assert_exactly([(true, false), (false, true)]);
}

/// The second processor is activated as the first one goes idle: what the new one pushes into its
/// own deque, the first one's second look sees, or it is seen asleep.
#[test]
fn more_as_one_goes_idle() {
    Bound::exhaustive(15_000).check(
        "a new processor's tasks are not left beside a sleeper",
        || {
            let (pool, [first]) = Pool::new();
            let newcomer = beside(&pool, |pool| {
                pool.pass();
                assert!(pool.coordinator.grow(1, &pool.queues));
                let (permit, _) = pool.coordinator.take_idle().expect("one is");
                pool.uses(&permit);
                pool.queues.deques[permit.processor()].store(1, Ordering::Relaxed);
                pool.coordinator.wake_one();
                permit
            });
            pool.go_idle(first, 0);
            let runs = newcomer.join().unwrap().processor();
            assert!(
                pool.awake(1 - runs).is_some(),
                "a task is there, and its neighbour sleeps"
            );
        },
    );
}

/// The first processor goes idle before its second look, beside a task; an observer asks; and the
/// second processor is activated and takes the task. A task is there, or runs, all the time: the
/// answer is no, though the first one is on the stack and never leaves it, and no queue has
/// anything at the end.
#[test]
fn not_quiescent_as_one_is_taken_up() {
    Bound::exhaustive(40).check("a processor that is activated is not overlooked", || {
        let pool = Pool::idle::<1>();
        // The first one's second look is to come.
        pool.queues.global.store(1, Ordering::Relaxed);
        let newcomer = beside(&pool, |pool| {
            // Its second look finds the task.
            assert!(pool.coordinator.grow(1, &pool.queues));
            let permit = pool.awake(1).expect("it is on top");
            assert!(pool.take());
            pool.coordinator.stop_searching(&pool.queues);
            permit
        });
        assert!(!pool.is_quiescent(), "a task is there, or runs");
        drop(newcomer.join().unwrap());
    });
}

/// The machine of the second processor goes into a blocking call, another one is back from such a
/// call and waits, and there is to be one processor from now on. The second one is given up and not
/// passed on, so that calls that follow each other do not keep it for ever; the waiter is served by
/// the first.
#[test]
fn no_waiter_gets_one_too_many() {
    Bound::exhaustive(200).check("a processor too many is not passed on to a waiter", || {
        let (pool, [first, second]) = Pool::new();
        pool.hand_off(first, 0);
        let (first, substitute) = pool.coordinator.take_idle().expect("it is idle");
        assert!(pool.try_regain(0).is_none(), "all are taken");
        pool.coordinator.shrink(1, &pool.queues);
        let caller = beside(&pool, |pool| {
            pool.pass();
            pool.uses(&second);
            pool.coordinator.hand_off(second, 1, &pool.queues)
        });
        pool.go_idle(first, substitute);
        assert_eq!(caller.join().unwrap(), Ok(()), "it is one too many");
        let served = pool.told_to_run(0);
        assert_eq!(served.processor(), 0, "the other one is to be inactive");
    });
}

/// Two processors, one idle, the other one too many: its machine gives it up and goes away in a
/// blocking call. An observer that sees that the processor is inactive must then see that the
/// machine is away. A failure: everything that is left is idle, and nothing away, though the call
/// has yet to come back.
#[test]
fn not_while_one_whose_processor_was_given_up_is_away() {
    Bound::exhaustive(5).check(
        "a machine that gave its processor up for a call is not forgotten",
        || {
            let (pool, [first, second]) = Pool::new();
            pool.go_idle(first, 0);
            pool.coordinator.shrink(1, &pool.queues);
            let caller = beside(&pool, |pool| {
                pool.pass();
                pool.coordinator.hand_off(second, 1, &pool.queues)
            });
            assert!(!pool.is_quiescent(), "a call is under way");
            assert_eq!(caller.join().unwrap(), Ok(()), "it is one too many");
        },
    );
}
