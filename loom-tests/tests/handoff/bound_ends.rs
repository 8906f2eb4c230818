//! Bound machines, and what ends: the pool, or the binding.

use filch_processors::protocol::{Release, Turn};
use filch_sync::{Arc, Mutex, thread};
use loom_tests::{Bound, Outcomes, check};

use crate::bound::{Queue, bind, work_bound};
use crate::pool::Pool;

/// The pool is stopped as a task is found for the bound machine. It runs, its lender has the processor back, looks around and leaves, and the
/// bound machine leaves after it: the last of all. A failure is a deadlock, a task left behind, or an end that nobody announces.
#[test]
fn the_end_against_a_bound_task() {
    check(
        "a bound machine outlives those who could find its tasks",
        Bound::preemptions(3, 40_000),
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
                    assert!(pool.crew.exit(bound, parker), "it is the last one");
                    ran
                }
            });
            let end = thread::spawn({
                let pool = Arc::clone(&pool);
                move || pool.crew.stop()
            });
            let parker = pool.crew.enter(0);
            queue.push();
            pool.crew.lend(hold, 0, id).expect("it waits");
            let Turn::Run(mut hold) = pool.crew.wait(0, &parker) else {
                panic!("it gets its processor back")
            };
            if !pool.crew.is_over() {
                pool.rest(hold, 0);
                let Turn::Run(again) = pool.crew.wait(0, &parker) else {
                    panic!("it is woken to leave")
                };
                hold = again;
            }
            pool.uses(&hold);
            pool.crew.give_up(hold);
            assert!(!pool.crew.exit(0, parker), "the bound one is still there");
            assert_eq!(machine.join().unwrap(), 1);
            end.join().unwrap();
        },
    );
}

/// The pool is over. One machine finds nothing and leaves, as the other one finds a bound task: the bound machine is still there for it, and
/// leaves when both others have.
#[test]
fn a_bound_machine_leaves_last() {
    check(
        "no bound machine leaves before one who may find its task",
        Bound::exhaustive(4),
        || {
            let (pool, mut holds) = Pool::new(2);
            let queue = Queue::new();
            let (id, bound) = bind(&pool.crew);
            let (first, second) = (holds.remove(0), holds.remove(0));
            pool.crew.stop();
            let first = thread::spawn({
                let pool = Arc::clone(&pool);
                move || {
                    let parker = pool.crew.enter(0);
                    pool.crew.give_up(first);
                    pool.crew.exit(0, parker)
                }
            });
            let parker = pool.crew.enter(1);
            queue.push();
            pool.crew.lend(second, 1, id).expect("it has not left");
            let hold = pool.told_to_run(bound);
            assert_eq!(work_bound(&pool, &queue, hold, bound), 1);
            let hold = pool.told_to_run(1);
            pool.crew.give_up(hold);
            assert!(!pool.crew.exit(1, parker), "the bound one is still there");
            assert!(!first.join().unwrap(), "the bound one is still there");
            assert_eq!(pool.crew.turn(bound), Some(Turn::Leave));
        },
    );
}

/// The bound machine is released as a task is found for it. Either the task is queued first: then the machine runs it, and keeps the
/// processor, being one like any other, while its lender stands by. Or the queue is closed first: then the finder runs it.
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
                pool.crew.lend(hold, 0, id).expect("it waits");
                let hold = pool.told_to_run(bound);
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
                        assert_eq!(pool.crew.turn(0), None, "its lender stands by");
                        pool.uses(&hold);
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
