//! Watching: the only task of a watched processor wakes no machine, and is not forgotten.
//!
//! Processor 0 is watched in nearly all of them, by machine 1. A watch interval is over whenever
//! the model likes.

use filch_models::{Bound, beside};
use filch_processors::protocol::{Grant, Permit};
use filch_sync::Arc;
use filch_sync::atomic::Ordering;

use super::end::all_leave;
use super::pool::Pool;

/// Machine 0 runs on processor 0; machine 1 has gone idle and watches that.
fn watched() -> (Arc<Pool>, Permit) {
    let (pool, [first, second]) = Pool::new();
    assert!(pool.coordinator.try_watch(0, 9));
    assert!(!pool.coordinator.try_watch(0, 9), "one is enough");
    pool.go_idle(second, 1);
    (pool, first)
}

/// The watched processor schedules one task, which is left to it, and a second one. The watcher is
/// on its way to sleep meanwhile: it is woken, by the second push or by its second look. A failure:
/// two tasks lie there, and their owner is in a long step, until the interval is over.
#[test]
fn a_second_task_wakes_the_watcher() {
    Bound::exhaustive(400)
        .outcomes(
            "the second task of a watched processor is not left alone",
            || {
                let (pool, [first, second]) = Pool::new();
                assert!(pool.coordinator.try_watch(0, 9));
                let watcher = beside(&pool, |pool| pool.go_idle(second, 1));
                let pushes = [pool.schedule(&first), pool.schedule(&first)];
                watcher.join().unwrap();
                assert!(!pushes[0], "the only one is left to its owner");
                let grant = pool.coordinator.take_grant(1);
                assert!(
                    matches!(grant, Some(Grant::Search(_))),
                    "two tasks lie there, and it sleeps: {grant:?}"
                );
                pushes[1]
            },
        )
        .assert_exactly([true, false]);
}

/// A watch ends just as the watched processor schedules its only task. Either the push sees that
/// the watch is over, or the last look sees the task: the machine is woken once. A failure: the
/// owner relies on a watch that is over.
#[test]
fn the_end_of_a_watch_and_the_only_task() {
    Bound::exhaustive(40)
        .outcomes(
            "a task that was left to a watcher is seen at the end of the watch",
            || {
                let (pool, first) = watched();
                let watcher = beside(&pool, |pool| {
                    pool.coordinator.end_watches([0], &pool.queues);
                });
                let by_owner = pool.schedule(&first);
                watcher.join().unwrap();
                assert!(
                    pool.awake(1).is_some(),
                    "a task is there, its owner in a long step, and no machine looks"
                );
                by_owner
            },
        )
        .assert_exactly([true, false]);
}

/// A third one goes to sleep, and its second look leaves the only task to the watcher, whose watch
/// ends just then. One of the two looks comes after the other's fence. (The owner scheduled it when
/// no processor was idle, and woke none.)
#[test]
fn the_end_of_a_watch_and_another_sleeper() {
    Bound::exhaustive(100)
        .outcomes(
            "a sleeper that leaves a task to a watcher can rely on it",
            || {
                let (pool, [first, second]) = Pool::new();
                assert!(pool.coordinator.try_watch(0, 9));
                assert!(!pool.schedule(&first), "no processor is idle");
                // Its machine has lost its processor to one that came back from a call, and still
                // watches.
                let watcher = beside(&pool, |pool| {
                    pool.pass();
                    pool.coordinator.end_watches([0], &pool.queues);
                });
                pool.go_idle(second, 1);
                watcher.join().unwrap();
                let outcome = pool.coordinator.is_watched(0);
                assert!(
                    pool.awake(1).is_some(),
                    "a task is there, its owner in a long step, and no machine looks"
                );

                outcome
            },
        )
        .assert_exactly([false]);
}

/// Three processors: the first is in use; the second sleeps; the third was woken, searches, and is
/// going to watch the first. With the permits of the first and the third.
fn searching() -> (Arc<Pool>, Permit, Permit) {
    let (pool, [first, second, third]) = Pool::new();
    pool.go_idle(second, 1);
    pool.go_idle(third, 2);
    assert!(pool.publish() && pool.take());
    let permit = pool.awake(2).unwrap();
    assert!(pool.coordinator.try_watch(0, 9));
    (pool, first, permit)
}

/// A watched processor that has a task goes idle itself, because its machine makes a blocking call:
/// no machine comes for the task any more, so one is woken for it at once, though the watch goes
/// on.
#[test]
fn a_call_does_not_leave_a_task_to_the_watcher() {
    Bound::exhaustive(40).check("a blocking call leaves nothing to a watcher", || {
        let (pool, first) = watched();
        assert!(!pool.schedule(&first));
        let observer = beside(&pool, Pool::is_quiescent);
        pool.hand_off(first, 0);
        assert!(!observer.join().unwrap(), "there is a task");
        // Machine 2 is the substitute.
        let awake = [pool.awake(1), pool.awake(2)];
        assert_eq!(
            awake.iter().flatten().count(),
            1,
            "a task is there, no machine runs, and none looks"
        );
    });
}

/// The same, while a third one searches, which leaves the task to the watcher and goes idle. Either
/// the call comes last, and its second look wakes a machine; or that relies on the search, and the
/// search on the watcher: then the task waits for the end of the watch, and no longer. A failure:
/// no machine is woken then either.
#[test]
fn a_call_beside_a_search_waits_for_the_end_of_the_watch() {
    Bound::exhaustive(40)
        .outcomes(
            "what a search leaves to a watcher is taken at the end of the watch",
            || {
                let (pool, first, permit) = searching();
                assert!(!pool.schedule(&first), "a machine searches");
                let searcher = beside(&pool, |pool| {
                    pool.pass();
                    pool.coordinator.go_idle(permit, 2, true, &pool.queues);
                });
                pool.hand_off(first, 0);
                searcher.join().unwrap();
                // Machine 3 is the substitute.
                let is_awake = || (1..4).filter_map(|machine| pool.awake(machine)).count();
                let at_once = is_awake();
                pool.coordinator.end_watches([0], &pool.queues);
                assert_eq!(
                    at_once + is_awake(),
                    1,
                    "a task is there, and no machine looks"
                );
                at_once
            },
        )
        .assert_exactly([0, 1]);
}

/// The pool is stopped while the watched processor goes idle, its only task done, and the watch
/// ends. A machine that is woken in vain goes idle again, and in the end both are told to exit. A
/// failure: one is never told.
#[test]
fn the_end_of_a_watch_and_of_the_pool() {
    Bound::preemptions(3, 2_200).check("a watch does not outlive the pool", || {
        let (pool, first) = watched();
        assert!(!pool.schedule(&first));
        let watcher = beside(&pool, |pool| {
            pool.pass();
            pool.coordinator.end_watches([0], &pool.queues);
        });
        let stopper = beside(&pool, Pool::stop);
        pool.take_from(0);
        pool.go_idle(first, 0);
        watcher.join().unwrap();
        stopper.join().unwrap();
        all_leave(&pool);
    });
}

/// There are to be fewer processors, just as the watch ends: the watcher's is deactivated, the
/// watcher becomes a spare, and the last look may find no machine to wake. The owner has one more
/// task: then both wait for it, and it does come; but a machine that gives up a surplus processor
/// leaves nothing behind, watched or not.
#[test]
fn a_watched_processor_that_is_given_up() {
    Bound::exhaustive(80).check(
        "what a watched processor had is announced when it is given up",
        || {
            let (pool, [first, second]) = Pool::new();
            assert!(pool.coordinator.try_watch(1, 9));
            pool.go_idle(first, 0);
            assert!(!pool.schedule(&second), "left to its owner");
            pool.coordinator.shrink(1, &pool.queues);
            let watcher = beside(&pool, |pool| {
                pool.pass();
                pool.coordinator.end_watches([1], &pool.queues);
            });
            pool.coordinator.retire(second, 1, &pool.queues).unwrap();
            watcher.join().unwrap();
            assert_eq!(pool.queues.global.load(Ordering::Relaxed), 1);
            pool.assert_first_is_awake();
            assert_eq!(pool.coordinator.take_grant(1), None, "it is a spare");
        },
    );
}
