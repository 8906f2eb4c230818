//! The end of a pool that has been told to stop: at the first moment at which nothing can run any
//! more, and not before.

use std::io;

use filch_models::{Bound, beside};
use filch_processors::protocol::Grant;
use filch_sync::atomic::Ordering;

use super::pool::Pool;

/// Makes both machines exit, as they are told; before that, perhaps, they are told to look for
/// something that has been taken already.
pub(crate) fn all_leave(pool: &Pool) {
    let mut here = vec![0, 1];
    while !here.is_empty() {
        let mut told = 0;
        here.retain(|&machine| {
            let grant = pool.coordinator.take_grant(machine);
            told += usize::from(grant.is_some());
            if let Some(Grant::Search(permit)) = grant {
                pool.uses(&permit);
                pool.coordinator.stop_searching(&pool.queues);
                pool.go_idle(permit, machine);
                return true;
            }
            grant.is_none()
        });
        assert!(told > 0, "{here:?} sleep for ever");
    }
    assert!(pool.coordinator.is_over());
}

/// The pool is stopped just as its one machine goes idle: one of them sees the other, and the
/// machine exits.
#[test]
fn against_a_sleeper() {
    Bound::exhaustive(150).check("no machine sleeps in a pool that is over", || {
        let (pool, [permit]) = Pool::new();
        let end = beside(&pool, Pool::stop);
        pool.go_idle(permit, 0);
        end.join().unwrap();
        assert_eq!(
            pool.coordinator.take_grant(0),
            Some(Grant::Exit),
            "it sleeps for ever"
        );
        assert!(pool.coordinator.is_over());
    });
}

/// Two processors go idle as the pool is stopped. The last one finds that nothing can run any more:
/// all machines exit, and the pool is over once.
#[test]
fn against_two_sleepers() {
    Bound::preemptions(3, 4_000).check("the last one of two ends the pool", || {
        let (pool, [first, second]) = Pool::new();
        let end = beside(&pool, Pool::stop);
        let other = beside(&pool, |pool| pool.go_idle(second, 1));
        pool.go_idle(first, 0);
        end.join().unwrap();
        other.join().unwrap();
        all_leave(&pool);
    });
}

/// The pool is stopped while machine 0 comes back from a blocking call, and schedules a task, and
/// machine 1, which has the processor, goes idle. The pool is not over before 0 has had the
/// processor again and the task has been run; then both exit.
#[test]
fn not_before_a_call_has_come_back() {
    Bound::preemptions(3, 22_000)
        .outcomes(
            "a call under way comes back to a processor, and all machines exit",
            || {
                let (pool, [permit]) = Pool::new();
                pool.hand_off(permit, 0);
                let (permit, substitute) = pool.coordinator.take_idle().expect("it is idle");
                let back = beside(&pool, |pool| {
                    let parker = pool.coordinator.enter(0);
                    let permit = pool.coordinator.regain(0, &parker);
                    assert!(!pool.coordinator.is_over(), "it is over beside a call");
                    pool.uses(&permit);
                    pool.queues.deques[0].store(1, Ordering::Relaxed);
                    pool.coordinator.wake_one();
                    pool.take_from(0);
                    pool.go_idle(permit, 0);
                });
                let end = beside(&pool, Pool::stop);
                pool.go_idle(permit, substitute);
                let outcome = pool.coordinator.is_over();
                end.join().unwrap();
                back.join().unwrap();
                all_leave(&pool);

                outcome
            },
        )
        .assert_exactly([true, false]);
}

/// Two processors, both idle. A producer publishes a task just as the pool is stopped: either one
/// is woken for it, and runs it before the pool is over, or the task has come too late, and none is
/// woken. In the end both exit.
#[test]
fn against_a_producer() {
    Bound::exhaustive(900)
        .outcomes(
            "a machine that is woken runs before the end, and exits at the end",
            || {
                let pool = Pool::idle::<2>();
                let producer = beside(&pool, Pool::publish);
                pool.stop();
                let woken = producer.join().unwrap();
                if woken {
                    let permit = pool.awake(1).expect("it is on top");
                    assert!(!pool.coordinator.is_over(), "a machine runs");
                    assert!(pool.take());
                    pool.coordinator.stop_searching(&pool.queues);
                    pool.go_idle(permit, 1);
                }
                all_leave(&pool);

                woken
            },
        )
        .assert_exactly([true, false]);
}

/// The last producer stops the pool: what it has published is seen, though the machine goes idle
/// just then. (No machine is woken for it: the end alone must carry it.)
#[test]
fn not_before_what_came_before() {
    Bound::exhaustive(1_400).check(
        "what was published before the stop is not left behind",
        || {
            let (pool, [permit]) = Pool::new();
            let end = beside(&pool, |pool| {
                pool.pass();
                pool.queues.global.fetch_add(1, Ordering::Relaxed);
                pool.coordinator.stop(&pool.queues);
            });
            pool.go_idle(permit, 0);
            assert!(!pool.coordinator.is_over(), "the task is left behind");
            end.join().unwrap();
            assert!(!pool.coordinator.is_over(), "the task is left behind");
        },
    );
}

/// A processor that a shrink has made one too many is given up, with a task in its deque, by its
/// machine, as the pool is stopped and the other one goes idle. The task is in the one queue or the
/// other, or on its way: the pool is not over before it has been run.
#[test]
fn not_while_a_retired_processors_tasks_move() {
    Bound::preemptions(3, 7_000).check(
        "a task that moves to the global queue is not left behind",
        || {
            let (pool, [first, second]) = Pool::new();
            pool.queues.deques[1].store(1, Ordering::Relaxed);
            pool.coordinator.shrink(1, &pool.queues);
            let other = beside(&pool, |pool| pool.go_idle(first, 0));
            let end = beside(&pool, Pool::stop);
            pool.pass();
            pool.uses(&second);
            pool.coordinator.retire(second, 1, &pool.queues).unwrap();
            other.join().unwrap();
            end.join().unwrap();
            let permit = pool.awake(0).expect("a task is there");
            assert!(!pool.coordinator.is_over(), "the task is left behind");
            assert!(pool.take());
            pool.coordinator.stop_searching(&pool.queues);
            pool.go_idle(permit, 0);
            all_leave(&pool);
        },
    );
}

/// A thread is to be reserved, and the system refuses it, just as the pool is stopped and its only
/// machine exits. The one that comes last finds that no thread is left, and says so.
#[test]
fn with_a_thread_that_could_not_be_had() {
    Bound::exhaustive(140)
        .outcomes("one thread finds that none is left", || {
            let (pool, [permit]) = Pool::new();
            pool.coordinator
                .set_launcher(|_| Err(io::ErrorKind::WouldBlock.into()));
            let parker = pool.coordinator.enter(0);
            pool.go_idle(permit, 0);
            let reserver = beside(&pool, |pool| {
                pool.pass();
                assert!(!matches!(pool.coordinator.bind(|_| {}), Ok(Some(_))));
                pool.coordinator.is_deserted()
            });
            pool.stop();
            assert_eq!(pool.coordinator.take_grant(0), Some(Grant::Exit));
            pool.coordinator.exit(0, parker);
            let by_machine = pool.coordinator.is_deserted();
            let by_reserver = reserver.join().unwrap();
            assert!(by_machine || by_reserver, "no thread announces the end");
            (by_machine, by_reserver)
        })
        // A reservation that comes later may find the same.
        .assert_exactly([(true, false), (true, true), (false, true)]);
}

/// There is to be one processor more, just as the pool is stopped. It comes before the end, or too
/// late; the only thread exits. A failure: the new processor stays on the stack of a pool that is
/// over, or keeps that from its end.
#[test]
fn with_a_processor_that_comes_late() {
    Bound::exhaustive(150)
        .outcomes("a processor that comes late ends with the pool", || {
            let pool = Pool::idle::<1>();
            let resizer = beside(&pool, |pool| pool.coordinator.grow(1, &pool.queues));
            pool.stop();
            let grown = resizer.join().unwrap();
            assert!(pool.coordinator.is_over());
            assert!(pool.coordinator.take_idle().is_none());
            assert_eq!(pool.coordinator.take_grant(0), Some(Grant::Exit));
            grown
        })
        .assert_exactly([true, false]);
}

/// The pool is stopped as it starts. Its only thread exits.
#[test]
fn against_the_beginning() {
    Bound::exhaustive(190)
        .outcomes("a pool that is stopped as it starts is over", || {
            let pool = Pool::unstarted(2);
            let end = beside(&pool, Pool::stop);
            pool.coordinator.start(2, 1, &pool.queues).unwrap();
            let outcome = pool.coordinator.is_over();
            end.join().unwrap();
            assert!(pool.coordinator.is_over());
            assert!(pool.coordinator.take_idle().is_none());
            assert_eq!(pool.coordinator.take_grant(0), Some(Grant::Exit));
            outcome
        })
        .assert_exactly([true, false]);
}

/// A task is published as the pool starts. A failure: both processors sleep beside it.
#[test]
fn a_publication_against_the_beginning() {
    Bound::exhaustive(40).check("a pool that starts sees what was published before", || {
        let pool = Pool::unstarted(2);
        let producer = beside(&pool, Pool::publish);
        pool.coordinator.start(2, 1, &pool.queues).unwrap();
        producer.join().unwrap();
        let awake = [0, 1].map(|machine| pool.awake(machine).is_some());
        assert!(awake[0] ^ awake[1], "{awake:?} are awake");
    });
}

/// One processor, which is idle. A thread outside publishes a task, wakes one for it, and asks
/// whether the pool is ending, just as it is stopped. If it hears "no", the task is run. A failure:
/// nobody comes for it, and its owner waits for ever.
#[test]
fn against_a_publication_from_outside() {
    Bound::exhaustive(50)
        .outcomes("work is run, or its owner hears that the pool ends", || {
            let pool = Pool::idle::<1>();
            let end = beside(&pool, Pool::stop);
            pool.publish();
            let ends = pool.coordinator.control_word().is_stopping();
            end.join().unwrap();
            let searches = matches!(pool.coordinator.take_grant(0), Some(Grant::Search(_)));
            assert!(ends || searches, "nobody comes for it");
            (ends, searches)
        })
        .assert_exactly([(true, true), (true, false), (false, true)]);
}
