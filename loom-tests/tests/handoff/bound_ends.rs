//! Bound machines, and what ends: the pool, or the binding.

use filch_processors::protocol::{Release, Turn};
use filch_sync::{Arc, Mutex, thread};
use loom_tests::{Bound, Outcomes, check};

use crate::bound::{Queue, bind, lent, work_bound};
use crate::pool::Pool;

/// The pool is stopped as a task is found for the bound machine. It runs, its lender has the
/// processor back and goes idle, and then all are told to leave. A failure is a deadlock, a task
/// left behind, or an end that nobody announces.
#[test]
fn the_end_against_a_bound_task() {
    check(
        "the pool is over when the bound task has run",
        Bound::preemptions(3, 50_000),
        || {
            let (pool, mut holds) = Pool::new(1);
            let queue = Queue::new();
            let (id, bound) = bind(&pool.crew);
            let hold = holds.remove(0);
            let machine = thread::spawn({
                let (pool, queue) = (Arc::clone(&pool), Arc::clone(&queue));
                move || {
                    let parker = pool.crew.enter(bound);
                    let turn = pool.crew.wait(bound, &parker);
                    let Turn::Run(hold) = turn else {
                        panic!("told {turn:?} before its task was found")
                    };
                    let ran = work_bound(&pool, &queue, hold, bound);
                    assert_eq!(pool.crew.wait(bound, &parker), Turn::Leave);
                    pool.crew.exit(bound, parker);
                    ran
                }
            });
            let end = thread::spawn({
                let pool = Arc::clone(&pool);
                move || pool.stop()
            });
            let parker = pool.crew.enter(0);
            queue.push();
            pool.crew.lend(hold, 0, id).expect("it waits");
            let Turn::Run(hold) = pool.crew.wait(0, &parker) else {
                panic!("it gets its processor back")
            };
            pool.rest(hold, 0);
            assert_eq!(pool.crew.wait(0, &parker), Turn::Leave);
            pool.crew.exit(0, parker);
            assert_eq!(machine.join().unwrap(), 1);
            end.join().unwrap();
            assert!(pool.crew.is_deserted());
        },
    );
}

/// The pool has been told to stop. One machine goes idle, as the other one finds a bound task: the
/// bound machine is still there for it, and leaves with the others when it has run.
#[test]
fn no_bound_machine_leaves_early() {
    check(
        "no bound machine leaves before one who may find its task",
        Bound::exhaustive(3_000),
        || {
            let (pool, mut holds) = Pool::new(2);
            let queue = Queue::new();
            let (id, bound) = bind(&pool.crew);
            let (first, second) = (holds.remove(0), holds.remove(0));
            pool.stop();
            let first = thread::spawn({
                let pool = Arc::clone(&pool);
                move || pool.rest(first, 0)
            });
            pool.pass();
            queue.push();
            let hold = lent(&pool, second, 1, (id, bound));
            assert_eq!(work_bound(&pool, &queue, hold, bound), 1);
            let hold = pool.told_to_run(1);
            assert!(!pool.crew.is_over());
            pool.rest(hold, 1);
            first.join().unwrap();
            for machine in [0, 1, bound] {
                assert_eq!(pool.crew.turn(machine), Some(Turn::Leave));
            }
        },
    );
}

/// A thread is reserved just as the pool is over: it is refused, or told to leave with the others.
/// Either way it has been started, and does not sleep for ever.
#[test]
fn a_thread_is_reserved_at_the_end() {
    let outcomes = Outcomes::new();
    check(
        "a thread that is reserved at the end leaves",
        Bound::preemptions(3, 15),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(1);
                pool.rest(holds.remove(0), 0);
                let end = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || pool.stop()
                });
                pool.pass();
                let mut started = None;
                let id = pool.crew.bind(|place| {
                    started = Some(place);
                    true
                });
                end.join().unwrap();
                assert!(pool.crew.is_over());
                let bound = started.expect("there was a place");
                assert_eq!(pool.crew.turn(bound), Some(Turn::Leave));
                outcomes.observe(id.is_some());
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// The bound machine is released as a task is found for it. Either the task is queued first: then
/// the machine runs it, and keeps the processor, being one like any other, while its lender stands
/// by. Or the queue is closed first: then the finder runs it.
#[test]
fn a_release_against_a_bound_task() {
    let outcomes = Outcomes::new();
    check(
        "a task for a thread that is released is run by one of them",
        Bound::exhaustive(25),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(1);
                let queue = Queue::new();
                // In this one model the queue is locked, as the real one is, and has an end.
                let closed = Arc::new(Mutex::new(false));
                let (id, bound) = bind(&pool.crew);
                let close = |queue: &Queue, closed: &Mutex<bool>| {
                    let mut closed = closed.lock().unwrap();
                    *closed = queue.is_done();
                    *closed
                };
                let owner = thread::spawn({
                    let (pool, queue, closed) =
                        (Arc::clone(&pool), Arc::clone(&queue), Arc::clone(&closed));
                    move || pool.crew.unbind(id, || close(&queue, &closed))
                });
                pool.pass();
                let hold = holds.remove(0);
                let queued = {
                    let closed = closed.lock().unwrap();
                    if !*closed {
                        queue.push();
                    }
                    !*closed
                };
                if !queued {
                    owner.join().unwrap();
                    // It stands by, for whoever needs a machine.
                    pool.hand_off(hold, 0);
                    pool.publish();
                    assert!(pool.awake(bound).is_some(), "it does not stand by");
                    outcomes.observe((false, false));
                    return;
                }
                let hold = lent(&pool, hold, 0, (id, bound));
                assert!(queue.pop());
                pool.pass();
                let release = |released: bool| {
                    if released {
                        close(&queue, &closed)
                    } else {
                        queue.is_done()
                    }
                };
                let early = match pool.crew.release(hold, bound, release) {
                    Release::Unbound(hold) => {
                        pool.uses(&hold);
                        assert!(
                            pool.crew
                                .grow(1, |_| panic!("its lender does not stand by"))
                        );
                        drop(pool.told_to_run(0));
                        true
                    }
                    Release::Returned => {
                        drop(pool.told_to_run(0));
                        false
                    }
                    other => panic!("{other:?}"),
                };
                owner.join().unwrap();
                outcomes.observe((true, early));
            }
        },
    );
    outcomes.assert_exactly([(false, false), (true, true), (true, false)]);
}

/// There are as many threads as may be, when one is to be reserved that the system refuses, and a
/// call needs a substitute. A failure: the reservation is undone in two steps, and in between there
/// seems to be room for one more.
#[test]
fn a_reservation_that_fails_makes_no_room() {
    check(
        "no thread more than the limit",
        Bound::exhaustive(5),
        || {
            let (pool, mut holds) = Pool::new(3);
            pool.hand_off(holds.remove(0), 0);
            let reserver = thread::spawn({
                let pool = Arc::clone(&pool);
                move || {
                    pool.pass();
                    assert_eq!(pool.crew.bind(|_| false), None);
                }
            });
            let second = holds.remove(0);
            let kept = pool.crew.hand_off(second, 1, |_| true, &pool.queues);
            assert!(kept.is_err(), "there are four already");
            reserver.join().unwrap();
        },
    );
}
