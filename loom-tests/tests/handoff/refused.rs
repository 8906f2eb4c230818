//! Grants to machines whose thread cannot be had: what they were for goes to others.

use std::io;

use filch_models::{Bound, beside};
use filch_processors::protocol::Permit;
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, Ordering};

use super::bound::bind;
use super::pool::Pool;

/// Two processors. Machine 0 runs on one, the other is idle, without a thread; and the system gives
/// none.
fn refusing() -> (Arc<Pool>, Permit) {
    let pool = Pool::unstarted(2);
    pool.coordinator.start(2, 1, &pool.queues).unwrap();
    pool.coordinator
        .set_launcher(|_| Err(io::ErrorKind::WouldBlock.into()));
    let (permit, machine) = pool.coordinator.take_idle().expect("it is on top");
    assert_eq!((permit.processor(), machine), (0, 0));
    pool.uses(&permit);
    (pool, permit)
}

/// A task is published, and the thread for it refused, just as machine 0 goes idle. A failure: that
/// one relies on the search which was to begin, and the task waits beside it.
#[test]
fn as_another_one_goes_idle() {
    Bound::exhaustive(650).check(
        "a thread that is there comes for what a refused one was for",
        || {
            let (pool, permit) = refusing();
            let producer = beside(&pool, Pool::publish);
            pool.go_idle(permit, 0);
            producer.join().unwrap();
            pool.assert_first_is_awake();
        },
    );
}

/// The same, and the pool is stopped. It is not over before the task has been run.
#[test]
fn as_another_one_goes_idle_and_the_pool_is_stopped() {
    Bound::preemptions(3, 390).check(
        "what a refused thread was for is run before the end",
        || {
            let (pool, permit) = refusing();
            let producer = beside(&pool, |pool| {
                pool.publish();
                pool.stop();
            });
            pool.go_idle(permit, 0);
            producer.join().unwrap();
            assert!(!pool.coordinator.is_over(), "the task is left behind");
            let permit = pool.awake(0).expect("a task is there");
            assert!(pool.take());
            pool.coordinator.stop_searching(&pool.queues);
            pool.go_idle(permit, 0);
            assert!(pool.coordinator.is_over(), "nothing is left");
        },
    );
}

/// One processor, whose machine 0 is in a blocking call. A task is published, and the thread for it
/// refused, just as 0 comes back. A failure: 0 waits for a processor that is missing.
#[test]
fn as_a_call_comes_back() {
    Bound::exhaustive(650)
        .outcomes(
            "a thread that is back has the processor that misses one",
            || {
                let (pool, [permit]) = Pool::new();
                pool.coordinator
                    .set_launcher(|_| Err(io::ErrorKind::WouldBlock.into()));
                pool.hand_off(permit, 0);
                let producer = beside(&pool, Pool::publish);
                let at_once = pool.try_regain(0);
                producer.join().unwrap();
                let outcome = at_once.is_some();
                drop(at_once.unwrap_or_else(|| pool.told_to_run(0)));
                assert!(pool.take(), "the task is still there");

                outcome
            },
        )
        .assert_exactly([true, false]);
}

/// Two idle processors. The thread of the first finds that it cannot begin, just as it is granted
/// something. Either it finds the grant, which goes to the other one; or the granter finds that it
/// has no thread, and starts another. A failure: nobody comes for the task.
#[test]
fn as_a_thread_cannot_begin() {
    Bound::exhaustive(13)
        .outcomes("a grant finds a thread, or the thread a grant", || {
            let pool = Pool::idle::<2>();
            let producer = beside(&pool, Pool::publish);
            pool.pass();
            pool.coordinator.refuse(1);
            producer.join().unwrap();
            let awake = [0, 1].map(|machine| pool.awake(machine).is_some());
            assert!(awake[0] != awake[1], "{awake:?} are awake");
            awake[0]
        })
        .assert_exactly([true, false]);
}

/// One processor, and a bound machine in line for it, whose thread finds that it cannot begin, just
/// as the processor goes idle. A failure: the one that serves the line starts another thread under
/// the lock, which it waits for itself; or the processor is lost.
#[test]
fn as_a_bound_thread_in_line_cannot_begin() {
    Bound::exhaustive(45)
        .outcomes(
            "a bound machine in line has a thread, or is in no line",
            || {
                let (pool, [permit]) = Pool::new();
                let (id, bound) = bind(&pool.coordinator);
                assert!(pool.coordinator.call_bound(id), "it waits");
                let other = beside(&pool, move |pool| {
                    pool.pass();
                    pool.coordinator.refuse(bound);
                });
                pool.go_idle(permit, 0);
                other.join().unwrap();
                let was_passed_on = pool.awake(0).is_some();
                if !was_passed_on {
                    pool.publish();
                    pool.assert_first_is_awake();
                }
                was_passed_on
            },
        )
        .assert_exactly([true, false]);
}

/// Machine 0 runs, and the other processor is missing. It is restored just as a task is published,
/// and the system gives threads again. A failure: the task waits beside the processor.
#[test]
fn as_a_missing_processor_is_restored() {
    Bound::exhaustive(330).check(
        "a processor that is restored looks for what came before",
        || {
            let pool = Pool::unstarted(2);
            pool.coordinator.start(2, 1, &pool.queues).unwrap();
            let _runs = pool.coordinator.take_idle().expect("it is idle");
            assert!(pool.coordinator.wake_one());
            pool.coordinator.refuse(1);
            let producer = beside(&pool, Pool::publish);
            pool.pass();
            pool.coordinator.restore_missing(&pool.queues);
            producer.join().unwrap();
            assert!(pool.awake(1).is_some(), "a task is there, and nobody comes");
        },
    );
}

/// Two processors, whose only thread is in a blocking call. Two tasks are published, and the
/// threads for them refused; then the system gives threads again, and a third one is published. A
/// failure: nobody comes for what the call waits for.
#[test]
fn as_all_threads_are_in_calls() {
    Bound::exhaustive(34_000).check(
        "of processors without threads one stays where it can be woken",
        || {
            let pool = Pool::unstarted(2);
            pool.coordinator.start(2, 1, &pool.queues).unwrap();
            let (permit, _) = pool.coordinator.take_idle().expect("it is idle");
            pool.hand_off(permit, 0);
            let refuses = Arc::new(AtomicBool::new(true));
            let is_refused = Arc::clone(&refuses);
            pool.coordinator
                .set_launcher(move |_| match is_refused.load(Ordering::Relaxed) {
                    true => Err(io::ErrorKind::WouldBlock.into()),
                    false => Ok(()),
                });
            let producer = beside(&pool, Pool::publish);
            pool.publish();
            producer.join().unwrap();
            refuses.store(false, Ordering::Relaxed);
            assert!(pool.publish(), "nothing is left to be woken");
            let awake = [1, 2].map(|machine| pool.awake(machine).is_some());
            assert!(awake[0] != awake[1], "{awake:?} are awake");
        },
    );
}
