//! Vigils: the only task of a watched processor wakes nobody, and is not forgotten.
//!
//! Everywhere processor 0 is the one that is watched, and machine 1 the one that watches it. A nap
//! is over whenever the model likes.

use filch_processors::protocol::{Hold, Turn};
use filch_sync::atomic::Ordering;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

use crate::end::all_leave;
use crate::pool::Pool;

/// Processor 0 is held by machine 0, which runs; machine 1 has gone idle and keeps vigil over it.
fn watched() -> (Arc<Pool>, Hold) {
    let (pool, mut holds) = Pool::new(2);
    let (first, second) = (holds.remove(0), holds.remove(0));
    assert!(pool.crew.keep_vigil(0, 9));
    assert!(!pool.crew.keep_vigil(0, 9), "one is enough");
    pool.rest(second, 1);
    (pool, first)
}

/// The watched processor schedules one task, which is left to it, and a second one. The machine
/// that keeps vigil is on its way to sleep meanwhile: it is woken, by the second push or by its own
/// second look. A failure: two tasks lie there, and their owner is in a long step, until the nap is
/// over.
#[test]
fn a_second_task_wakes_the_watcher() {
    let outcomes = Outcomes::new();
    check(
        "the second task of a watched processor is not left alone",
        Bound::exhaustive(400),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(2);
                let (first, second) = (holds.remove(0), holds.remove(0));
                assert!(pool.crew.keep_vigil(0, 9));
                let watcher = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || pool.rest(second, 1)
                });
                let pushes = [pool.schedule(&first), pool.schedule(&first)];
                watcher.join().unwrap();
                assert!(!pushes[0], "the only one is left to its owner");
                let turn = pool.crew.turn(1);
                assert!(
                    matches!(turn, Some(Turn::Search(_))),
                    "two tasks lie there, and it sleeps: {turn:?}"
                );
                outcomes.observe(pushes[1]);
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// A vigil ends just as the watched processor schedules its only task. Either the push sees that
/// the vigil is over, or the last look sees the task: the machine is woken once. A failure: the
/// owner relies on a vigil that is over.
#[test]
fn the_end_of_a_vigil_and_the_only_task() {
    let outcomes = Outcomes::new();
    check(
        "a task that was left to a vigil is seen at its end",
        Bound::exhaustive(40),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, first) = watched();
                let watcher = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || pool.crew.end_vigils([0], &pool.queues)
                });
                let by_owner = pool.schedule(&first);
                watcher.join().unwrap();
                assert!(
                    pool.awake(1).is_some(),
                    "a task is there, its owner in a long step, and nobody looks"
                );
                outcomes.observe(by_owner);
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// A third one goes to sleep, and its second look leaves the only task to the vigil, which ends
/// just then. One of the two looks comes after the other's fence. (The owner scheduled it when
/// nobody was idle, and told nobody.)
#[test]
fn the_end_of_a_vigil_and_another_sleeper() {
    let outcomes = Outcomes::new();
    check(
        "a sleeper that leaves a task to a vigil can rely on it",
        Bound::exhaustive(100),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(2);
                let (first, second) = (holds.remove(0), holds.remove(0));
                assert!(pool.crew.keep_vigil(0, 9));
                assert!(!pool.schedule(&first), "nobody is idle");
                // Its machine has lost its processor to one that came back from a call, and still
                // keeps vigil.
                let watcher = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || {
                        pool.pass();
                        pool.crew.end_vigils([0], &pool.queues);
                    }
                });
                pool.rest(second, 1);
                watcher.join().unwrap();
                outcomes.observe(pool.crew.is_watched(0));
                assert!(
                    pool.awake(1).is_some(),
                    "a task is there, its owner in a long step, and nobody looks"
                );
            }
        },
    );
    outcomes.assert_exactly([false]);
}

/// Three processors: the first is in use; the second sleeps; the third was woken, searches, and is
/// going to keep vigil over the first. With what the first and the third are held by.
fn searching() -> (Arc<Pool>, Hold, Hold) {
    let (pool, mut holds) = Pool::new(3);
    let first = holds.remove(0);
    pool.rest(holds.remove(0), 1);
    pool.rest(holds.remove(0), 2);
    assert!(pool.publish() && pool.take());
    let hold = pool.awake(2).unwrap();
    assert!(pool.crew.keep_vigil(0, 9));
    (pool, first, hold)
}

/// A searcher was going to keep vigil, and finds something else in its last round, which takes
/// long. It gives the vigil up and stops searching, just as the processor schedules its only task:
/// it relies on the vigil, or on the searcher, whose last look sees the task, or it wakes the one
/// that is idle. A failure: that one sleeps on, nobody looks, and there is no nap that would end.
#[test]
fn a_vigil_that_is_not_kept() {
    let outcomes = Outcomes::new();
    check(
        "a vigil that is given up hides nothing",
        Bound::exhaustive(100),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, first, hold) = searching();
                let searcher = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || {
                        pool.pass();
                        pool.crew.drop_vigils([0]);
                        let woke = pool.crew.stop_searching(&pool.queues);
                        pool.uses(&hold);
                        woke
                    }
                });
                let by_owner = pool.schedule(&first);
                let by_searcher = searcher.join().unwrap();
                assert!(pool.awake(1).is_some(), "a task is there, and nobody looks");
                outcomes.observe((by_owner, by_searcher));
            }
        },
    );
    outcomes.assert_exactly([(true, false), (false, true)]);
}

/// A watched processor that has a task goes idle itself, because its machine makes a blocking call:
/// nobody comes for the task any more, so somebody is woken for it at once, though the vigil goes
/// on.
#[test]
fn a_call_does_not_leave_a_task_to_the_vigil() {
    check(
        "a blocking call leaves nothing to a vigil",
        Bound::exhaustive(40),
        || {
            let (pool, first) = watched();
            assert!(!pool.schedule(&first));
            let stranger = thread::spawn({
                let pool = Arc::clone(&pool);
                move || pool.is_quiescent()
            });
            pool.hand_off(first, 0);
            assert!(!stranger.join().unwrap(), "there is a task");
            // Machine 2 is the substitute.
            let awake = [pool.awake(1), pool.awake(2)];
            assert_eq!(
                awake.iter().flatten().count(),
                1,
                "a task is there, nobody runs, and nobody looks"
            );
        },
    );
}

/// The same, while a third one searches, which leaves the task to the vigil and goes idle. Either
/// the call comes last, and its second look wakes somebody; or that relies on the search, and the
/// search on the vigil: then the task waits for the end of that, and no longer. A failure: nobody
/// is woken then either.
#[test]
fn a_call_beside_a_search_waits_for_the_end_of_the_vigil() {
    let outcomes = Outcomes::new();
    check(
        "what a search leaves to a vigil is taken at its end, whoever has gone",
        Bound::exhaustive(40),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, first, hold) = searching();
                assert!(!pool.schedule(&first), "somebody searches");
                let searcher = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || {
                        pool.pass();
                        pool.crew.rest(hold, 2, true, &pool.queues);
                    }
                });
                pool.hand_off(first, 0);
                searcher.join().unwrap();
                // Machine 3 is the substitute.
                let is_awake = || (1..4).filter_map(|machine| pool.awake(machine)).count();
                let at_once = is_awake();
                pool.crew.end_vigils([0], &pool.queues);
                assert_eq!(at_once + is_awake(), 1, "a task is there, and nobody looks");
                outcomes.observe(at_once);
            }
        },
    );
    outcomes.assert_exactly([0, 1]);
}

/// The pool is stopped while the watched processor goes idle, its only task done, and the vigil
/// ends. Whoever is woken in vain goes idle again, and in the end both machines are told to leave.
/// A failure: one that nobody tells.
#[test]
fn the_end_of_a_vigil_and_of_the_pool() {
    check(
        "a vigil does not outlive the pool",
        Bound::preemptions(3, 2_200),
        || {
            let (pool, first) = watched();
            assert!(!pool.schedule(&first));
            let watcher = thread::spawn({
                let pool = Arc::clone(&pool);
                move || {
                    pool.pass();
                    pool.crew.end_vigils([0], &pool.queues);
                }
            });
            let stopper = thread::spawn({
                let pool = Arc::clone(&pool);
                move || pool.stop()
            });
            pool.take_from(0);
            pool.rest(first, 0);
            watcher.join().unwrap();
            stopper.join().unwrap();
            all_leave(&pool);
        },
    );
}

/// There are to be fewer processors, just as the vigil ends: the watcher's is laid down, its
/// machine stands by, and the last look may find nobody to wake. The owner has one more task: then
/// both wait for it, and it does come; but who gives up a processor that is one too many leaves
/// nothing behind, watched or not.
#[test]
fn a_watched_processor_that_is_given_up() {
    check(
        "what a watched processor had is announced when it is given up",
        Bound::exhaustive(80),
        || {
            let (pool, mut holds) = Pool::new(2);
            let (first, second) = (holds.remove(0), holds.remove(0));
            assert!(pool.crew.keep_vigil(1, 9));
            pool.rest(first, 0);
            assert!(!pool.schedule(&second), "left to its owner");
            pool.crew.shrink(1, &pool.queues);
            let watcher = thread::spawn({
                let pool = Arc::clone(&pool);
                move || {
                    pool.pass();
                    pool.crew.end_vigils([1], &pool.queues);
                }
            });
            pool.crew.retire(second, 1, &pool.queues).unwrap();
            watcher.join().unwrap();
            assert_eq!(pool.queues.global.load(Ordering::Relaxed), 1);
            assert!(
                pool.awake(0).is_some(),
                "a task is there, and its processor sleeps"
            );
            assert_eq!(pool.crew.turn(1), None, "it stands by");
        },
    );
}
