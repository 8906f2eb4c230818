//! Bound machines, and what ends: the pool, or the binding.

use std::io;

use filch_models::{Bound, beside, beside_both};
use filch_processors::protocol::{AfterBound, Grant};
use filch_sync::{Arc, Mutex, thread};

use super::bound::{Queue, bind, called, handed_over, with_a_bound_one, work_bound};
use super::pool::Pool;

/// The pool is stopped as a task is found for the bound machine. The task runs, the processor goes
/// idle, and then all are told to exit. A failure is a deadlock, a task
/// left behind, or an end that no thread announces.
#[test]
fn the_end_against_a_bound_task() {
    Bound::preemptions(3, 30_000).check("the pool is over when the bound task has run", || {
        let (pool, [permit], queue, (id, bound)) = with_a_bound_one();
        let machine = beside_both(&pool, &queue, move |pool, queue| {
            let parker = pool.coordinator.enter(bound);
            let grant = pool.coordinator.wait(bound, &parker);
            let Grant::Run(permit) = grant else {
                panic!("told {grant:?} before its task was found")
            };
            let ran = work_bound(&pool, &queue, permit, bound);
            assert_eq!(pool.coordinator.wait(bound, &parker), Grant::Exit);
            pool.coordinator.exit(bound, parker);
            ran
        });
        let end = beside(&pool, Pool::stop);
        let parker = pool.coordinator.enter(0);
        queue.push();
        assert!(pool.coordinator.call_bound(id), "it waits");
        pool.coordinator.hand_to_waiter(permit, 0).unwrap();
        assert_eq!(pool.coordinator.wait(0, &parker), Grant::Exit);
        pool.coordinator.exit(0, parker);
        assert_eq!(machine.join().unwrap(), 1);
        end.join().unwrap();
        assert!(pool.coordinator.is_deserted());
    });
}

/// The pool has been told to stop. One machine goes idle, as the other one finds a bound task: the
/// bound machine is still there for it, and exits with the others when it has run.
#[test]
fn no_bound_machine_exits_early() {
    Bound::exhaustive(51_000).check(
        "no bound machine exits before one that may find its task",
        || {
            let (pool, [first, second], queue, (id, bound)) = with_a_bound_one();
            pool.stop();
            let first = beside(&pool, |pool| pool.go_idle(first, 0));
            pool.pass();
            queue.push();
            let (permit, kept) = called(&pool, second, 1, (id, bound));
            kept.into_iter().for_each(|kept| pool.go_idle(kept, 1));
            assert!(!pool.coordinator.is_over());
            assert_eq!(work_bound(&pool, &queue, permit, bound), 1);
            first.join().unwrap();
            for machine in [0, 1, bound] {
                assert_eq!(pool.coordinator.take_grant(machine), Some(Grant::Exit));
            }
        },
    );
}

/// A thread is reserved just as the pool is over: it is refused, or told to exit with the others.
/// Either way it has been started, and does not sleep for ever.
#[test]
fn a_thread_is_reserved_at_the_end() {
    Bound::preemptions(3, 10)
        .outcomes("a thread that is reserved at the end exits", || {
            let pool = Pool::idle::<1>();
            let end = beside(&pool, Pool::stop);
            pool.pass();
            let id = pool.coordinator.bind(|_| {}).unwrap();
            end.join().unwrap();
            assert!(pool.coordinator.is_over());
            let exits = pool.coordinator.take_grant(0) == Some(Grant::Exit);
            let bound = id.is_none() || pool.coordinator.take_grant(1) == Some(Grant::Exit);
            assert!(exits && bound, "a thread is left");
            id.is_some()
        })
        .assert_exactly([true, false]);
}

/// The bound machine is released as a task is found for it. Either the task is queued first: then
/// the machine runs it, and keeps the processor as an ordinary machine, while the finder is a
/// spare. Or the queue is closed first: then the finder runs it.
#[test]
fn a_release_against_a_bound_task() {
    Bound::exhaustive(25)
        .outcomes(
            "a task for a thread that is released is run by one of them",
            || {
                let (pool, [permit]) = Pool::new();
                let queue = Queue::new();
                // In this one model the queue is locked, as the real one is, and has an end.
                let closed = Arc::new(Mutex::new(false));
                let (id, bound) = bind(&pool.coordinator);
                let close = |queue: &Queue, closed: &Mutex<bool>| {
                    let mut closed = closed.lock().unwrap();
                    *closed = queue.is_done();
                    *closed
                };
                let owner = thread::spawn({
                    let (pool, queue, closed) =
                        (Arc::clone(&pool), Arc::clone(&queue), Arc::clone(&closed));
                    move || pool.coordinator.unbind(id, || close(&queue, &closed))
                });
                pool.pass();
                let queued = {
                    let closed = closed.lock().unwrap();
                    if !*closed {
                        queue.push();
                    }
                    !*closed
                };
                if !queued {
                    owner.join().unwrap();
                    // It is a spare now, for a thread that needs a machine.
                    pool.hand_off(permit, 0);
                    pool.publish();
                    assert!(pool.awake(bound).is_some(), "it is no spare");
                    return (false, false);
                }
                let permit = handed_over(&pool, permit, 0, (id, bound));
                assert!(queue.pop());
                pool.pass();
                let release = |released: bool| {
                    if released {
                        close(&queue, &closed)
                    } else {
                        queue.is_done()
                    }
                };
                let coordinator = &pool.coordinator;
                let early = match coordinator.wait_for_bound(permit, bound, release, &pool.queues) {
                    AfterBound::Unbound(permit) => {
                        pool.uses(&permit);
                        assert!(coordinator.grow(1, &pool.queues));
                        true
                    }
                    AfterBound::Waits => false,
                    other => panic!("{other:?}"),
                };
                let (_, machine) = coordinator.take_idle().expect("one is");
                assert_eq!(machine, 0, "the finder is no spare");
                owner.join().unwrap();
                (true, early)
            },
        )
        .assert_exactly([(false, false), (true, true), (true, false)]);
}

/// There are as many threads as may be, when one is to be reserved that the system refuses, and a
/// call needs a substitute. A failure: the reservation is undone in two steps, and in between there
/// seems to be room for one more.
#[test]
fn a_reservation_that_fails_makes_no_room() {
    Bound::exhaustive(5).check("no thread more than the limit", || {
        let (pool, [first, second, _third]) = Pool::new();
        pool.hand_off(first, 0);
        let refuses = |_| Err(io::ErrorKind::WouldBlock.into());
        pool.coordinator.set_launcher(refuses);
        let reserver = beside(&pool, |pool| {
            pool.pass();
            assert!(pool.coordinator.bind(|_| {}).is_err());
        });
        let kept = pool.coordinator.hand_off(second, 1, &pool.queues);
        assert!(kept.is_err(), "there are four already");
        reserver.join().unwrap();
    });
}
