//! Bound machines: one is called for a task, gets a processor, and gives it away again.
//!
//! Their queue is a relaxed counter, too: which one waits for which has to come from the lock.

use std::sync::mpsc;

use filch_models::{Bound, beside, beside_both};
use filch_processors::BoundId;
use filch_processors::protocol::{AfterBound, Coordinator, Permit};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, thread};

use super::calls::{comes_back, takes_a_task};
use super::pool::Pool;

/// The tasks that have been found for the only bound machine.
pub(crate) struct Queue(AtomicUsize);

impl Queue {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicUsize::new(0)))
    }

    pub(crate) fn push(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn pop(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |tasks| {
                tasks.checked_sub(1)
            })
            .is_ok()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// Adds a bound machine.
pub(crate) fn bind(coordinator: &Coordinator) -> (BoundId, usize) {
    let (tell, told) = mpsc::channel();
    coordinator.set_launcher(move |machine| {
        // Only the first one is asked for.
        let _ = tell.send(machine);
        Ok(())
    });
    let id = coordinator.bind(|_| {}).expect("a thread can be had");
    let machine = told.recv().expect("it was started");
    (id.expect("there is room"), machine)
}

/// Makes a pool with one bound machine, which has a queue; returns the permits of the others.
pub(crate) fn with_a_bound_one<const N: usize>()
-> (Arc<Pool>, [Permit; N], Arc<Queue>, (BoundId, usize)) {
    let (pool, permits) = Pool::new();
    let bound = bind(&pool.coordinator);
    (pool, permits, Queue::new(), bound)
}

/// Hands the processor of `finder`, which has found a task for the bound machine, to that, which
/// waits: no other is idle.
pub(crate) fn handed_over(
    pool: &Pool,
    permit: Permit,
    finder: usize,
    machine: (BoundId, usize),
) -> Permit {
    let (permit, kept) = called(pool, permit, finder, machine);
    assert_eq!(kept, None);
    permit
}

/// Does the same, unless another processor is idle: then the finder keeps its own.
pub(crate) fn called(
    pool: &Pool,
    permit: Permit,
    finder: usize,
    (id, bound): (BoundId, usize),
) -> (Permit, Option<Permit>) {
    assert!(pool.coordinator.call_bound(id), "it waits");
    let kept = pool.coordinator.hand_to_waiter(permit, finder).err();
    (pool.told_to_run(bound), kept)
}

/// Does a bound machine's work with a processor, and returns the number of tasks that it ran.
pub(crate) fn work_bound(pool: &Pool, queue: &Queue, permit: Permit, machine: usize) -> usize {
    let mut permit = permit;
    let mut ran = 0;
    loop {
        pool.uses(&permit);
        while queue.pop() {
            ran += 1;
        }
        pool.pass();
        let is_done = |_| queue.is_done();
        match (pool.coordinator).wait_for_bound(permit, machine, is_done, &pool.queues) {
            AfterBound::Waits => return ran,
            AfterBound::Another(more) => permit = more,
            other => panic!("it is bound: {other:?}"),
        }
    }
}

/// Two processors, one of them the bound machine's, which has done what it was called for. As it
/// gives the processor away, the other one's machine finds a second task for it: either it sees
/// that task and stays, or it waits, and is called. A failure would be a task that waits for a
/// machine that waits for a task.
#[test]
fn a_task_is_found_as_its_machine_is_about_to_wait() {
    Bound::exhaustive(100)
        .outcomes("a bound task meets its machine", || {
            let (pool, [first, second], queue, (id, bound)) = with_a_bound_one();
            let second = handed_over(&pool, second, 1, (id, bound));
            let machine = beside_both(&pool, &queue, move |pool, queue| {
                work_bound(&pool, &queue, second, bound)
            });
            pool.pass();
            pool.uses(&first);
            queue.push();
            let called = pool.coordinator.call_bound(id);
            let mut ran = machine.join().unwrap();
            if called {
                // With the processor that it has given away before.
                let permit = pool.told_to_run(bound);
                ran += work_bound(&pool, &queue, permit, bound);
            }
            assert_eq!(ran, 1, "the task waits for a machine that waits");
            assert_eq!(pool.coordinator.control_word().waiting(), 0);
            let _kept = first;
            called
        })
        .assert_exactly([true, false]);
}

/// Two machines find a task each for the same bound machine, which waits: one calls it, and hands
/// it its processor over; the other one goes on; and both tasks are run.
#[test]
fn two_find_tasks_for_one_machine() {
    Bound::preemptions(3, 300)
        .outcomes("a bound machine gets one processor at a time", || {
            let (pool, [first, second], queue, (id, bound)) = with_a_bound_one();
            let find = |permit: Permit, machine| {
                let (pool, queue) = (Arc::clone(&pool), Arc::clone(&queue));
                move || {
                    pool.uses(&permit);
                    queue.push();
                    pool.pass();
                    let calls = pool.coordinator.call_bound(id);
                    // Between two tasks, if the other one has not done it.
                    let kept = pool.coordinator.hand_to_waiter(permit, machine).err();
                    (calls, kept)
                }
            };
            let other = thread::spawn(find(second, 1));
            let (first_calls, first) = find(first, 0)();
            let mut ran = 0;
            if let Some(permit) = pool.awake(bound) {
                ran += work_bound(&pool, &queue, permit, bound);
            }
            let (second_calls, second) = other.join().unwrap();
            if let Some(permit) = pool.awake(bound) {
                ran += work_bound(&pool, &queue, permit, bound);
            }
            assert_eq!(ran, 2, "a task is left behind");
            assert_eq!(pool.coordinator.control_word().waiting(), 0);
            let _kept = (first, second);
            (first_calls, second_calls)
        })
        // Both, one after the other, if it has done the first task before it is called for the
        // second.
        .assert_exactly([(true, false), (false, true), (true, true)]);
}

/// One processor. The bound machine is in a blocking call, and the one that has found its task
/// sleeps with the processor. A task is published as the call ends: the bound machine takes the
/// processor, or the other one has been woken and hands it over. Whichever way it came, the
/// processor is idle in the end, with that one.
#[test]
fn a_bound_machine_is_back_as_a_task_is_published() {
    Bound::exhaustive(25)
        .outcomes(
            "a processor that a bound machine regains is given away at the end",
            || {
                let (pool, [permit], queue, (id, bound)) = with_a_bound_one();
                let permit = handed_over(&pool, permit, 0, (id, bound));
                pool.hand_off(permit, bound);
                let back = comes_back(&pool, bound);
                pool.publish();
                let at_once = back.join().unwrap();
                let outcome = at_once.is_some();
                let permit = at_once.unwrap_or_else(|| {
                    let permit = pool.awake(0).expect("it was woken instead");
                    pool.coordinator.stop_searching(&pool.queues);
                    pool.coordinator.hand_to_waiter(permit, 0).unwrap();
                    pool.told_to_run(bound)
                });
                // Or it would be woken for the task as the processor goes idle.
                assert!(pool.take());
                work_bound(&pool, &queue, permit, bound);
                let (permit, machine) = pool.coordinator.take_idle().expect("it is given away");
                pool.uses(&permit);
                assert_eq!(machine, 0, "a spare waits with it");

                outcome
            },
        )
        .assert_exactly([true, false]);
}

/// One processor, whose machine goes into a blocking call as the bound machine comes back from one:
/// it gets the processor, from hand to hand or from the stack; and gives it away at the end, though
/// the other one is still in its call.
#[test]
fn a_call_begins_as_a_bound_machine_is_back() {
    Bound::exhaustive(390)
        .outcomes(
            "a bound machine gets the processor, and gives it away",
            || {
                let (pool, [permit], queue, (id, bound)) = with_a_bound_one();
                let permit = handed_over(&pool, permit, 0, (id, bound));
                pool.hand_off(permit, bound);
                let permit = takes_a_task(&pool, 0);
                let back = comes_back(&pool, bound);
                pool.hand_off(permit, 0);
                let at_once = back.join().unwrap();
                let outcome = at_once.is_some();
                let permit = at_once.unwrap_or_else(|| pool.told_to_run(bound));
                work_bound(&pool, &queue, permit, bound);
                let (permit, _) = pool.coordinator.take_idle().expect("it is given away");
                pool.uses(&permit);

                outcome
            },
        )
        .assert_exactly([true, false]);
}

/// There is to be one processor instead of two, as the bound machine has the second one, makes a
/// blocking call and comes back. In the end the second processor is inactive, the first one idle,
/// and no machine has been forgotten.
#[test]
fn fewer_as_one_is_handed_over() {
    Bound::preemptions(3, 1_600).check("a bound machine's processor too many is given up", || {
        let (pool, [first, second], queue, (id, bound)) = with_a_bound_one();
        pool.go_idle(first, 0);
        let resizer = beside(&pool, |pool| {
            pool.pass();
            pool.coordinator.shrink(1, &pool.queues);
        });
        let (permit, kept) = called(&pool, second, 1, (id, bound));
        if let Some(kept) = kept
            && let Err(kept) = pool.coordinator.retire(kept, 1, &pool.queues)
        {
            pool.go_idle(kept, 1);
        }
        pool.pass();
        pool.hand_off(permit, bound);
        let at_once = pool.try_regain(bound);
        resizer.join().unwrap();
        let permit = at_once.unwrap_or_else(|| pool.told_to_run(bound));
        work_bound(&pool, &queue, permit, bound);
        let (permit, _) = pool.coordinator.take_idle().expect("the first one is idle");
        assert_eq!(permit.processor(), 0);
        pool.uses(&permit);
        assert!(pool.coordinator.take_idle().is_none(), "one too many");
        // Of the two that have handed over or gone idle, one waits with the processor, and the
        // other one is a spare.
        assert!(pool.coordinator.grow(1, &pool.queues));
        let (_, machine) = pool.coordinator.take_idle().expect("nothing is there");
        assert!(machine < bound, "there is no spare");
    });
}

/// One processor, whose machine finds a bound task, and calls the bound machine, which runs it and
/// waits, as an observer asks whether all is done. Yes means that the task has run. (That the bound
/// machine waits for another one is not something that goes on.)
#[test]
fn not_quiescent_before_a_bound_task_has_run() {
    Bound::exhaustive(680)
        .outcomes("quiescent: not while a task waits for its thread", || {
            let (pool, [permit], queue, (id, bound)) = with_a_bound_one();
            pool.publish();
            let machines = beside_both(&pool, &queue, move |pool, queue| {
                assert!(pool.take());
                queue.push();
                let permit = handed_over(&pool, permit, 0, (id, bound));
                // In the middle of it a blocking call.
                pool.hand_off(permit, bound);
                let permit = pool.back(bound);
                assert_eq!(work_bound(&pool, &queue, permit, bound), 1);
            });
            let quiescent = pool.is_quiescent();
            if quiescent {
                assert!(queue.is_done(), "the task waits still");
                let (permit, _) = pool.coordinator.take_idle().expect("it is idle");
                pool.uses(&permit);
            }
            machines.join().unwrap();
            quiescent
        })
        .assert_exactly([true, false]);
}

/// The same, and the machine that has found the task goes idle instead of handing its processor
/// over: the bound machine gets it from the stack. A failure: it is idle for a moment, no queue
/// that others see has anything, and the bound machine, which is in line, is forgotten.
#[test]
fn not_quiescent_while_a_bound_machine_is_in_line() {
    Bound::exhaustive(60)
        .outcomes(
            "quiescent: not while a bound machine waits for a processor",
            || {
                let (pool, [permit], queue, (id, bound)) = with_a_bound_one();
                queue.push();
                let finder = beside(&pool, move |pool| {
                    assert!(pool.coordinator.call_bound(id));
                    pool.go_idle(permit, 0);
                });
                let early = pool.is_quiescent();
                assert!(!early, "the task waits still");
                finder.join().unwrap();
                let permit = pool.told_to_run(bound);
                assert_eq!(work_bound(&pool, &queue, permit, bound), 1);
                pool.is_quiescent()
            },
        )
        .assert_exactly([true]);
}
