//! Bound machines: a processor is lent to one, and returned.
//!
//! Their queue is a relaxed counter, too: which one waits for which has to come from the lock.

use std::sync::mpsc;

use filch_processors::BoundId;
use filch_processors::protocol::{AfterBound, Coordinator, Permit};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

use crate::calls::{comes_back, takes_a_task};
use crate::pool::Pool;

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

/// One more machine, a bound one.
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

/// The processor of the machine `lender`, lent to the bound machine, which waits.
pub(crate) fn lent(
    pool: &Pool,
    permit: Permit,
    lender: usize,
    (id, bound): (BoundId, usize),
) -> Permit {
    pool.coordinator.lend(permit, lender, id).expect("it waits");
    pool.told_to_run(bound)
}

/// What a bound machine does that has a processor; how many tasks it has run.
pub(crate) fn work_bound(pool: &Pool, queue: &Queue, permit: Permit, machine: usize) -> usize {
    let mut permit = permit;
    let mut ran = 0;
    loop {
        pool.uses(&permit);
        while queue.pop() {
            ran += 1;
        }
        pool.pass();
        match pool
            .coordinator
            .return_to_lender(permit, machine, |_| queue.is_done())
        {
            AfterBound::Returned => return ran,
            AfterBound::Another(more) => permit = more,
            other => panic!("bound, and lent to: {other:?}"),
        }
    }
}

/// Two processors, one of them lent to the bound machine, which has done what it was woken for. As
/// it gives the processor back, the other one's machine finds a second task for it: either it sees
/// that task and stays, or it waits, and is lent the other processor. A failure would be a task
/// that waits for a machine that waits for a task.
#[test]
fn a_task_is_found_as_its_machine_is_about_to_wait() {
    let outcomes = Outcomes::new();
    check("a bound task meets its machine", Bound::exhaustive(100), {
        let outcomes = outcomes.clone();
        move || {
            let (pool, mut permits) = Pool::new(2);
            let queue = Queue::new();
            let (id, bound) = bind(&pool.coordinator);
            let (first, second) = (permits.remove(0), permits.remove(0));
            let second = lent(&pool, second, 1, (id, bound));
            let machine = thread::spawn({
                let (pool, queue) = (Arc::clone(&pool), Arc::clone(&queue));
                move || work_bound(&pool, &queue, second, bound)
            });
            pool.pass();
            pool.uses(&first);
            queue.push();
            let lent = pool.coordinator.lend(first, 0, id).is_ok();
            let mut ran = machine.join().unwrap();
            drop(pool.told_to_run(1));
            if lent {
                let first = pool.told_to_run(bound);
                ran += work_bound(&pool, &queue, first, bound);
                drop(pool.told_to_run(0));
            }
            assert_eq!(ran, 1, "the task waits for a machine that waits");
            outcomes.observe(lent);
        }
    });
    outcomes.assert_exactly([true, false]);
}

/// Two machines find a task each for the same bound machine, which waits: one lends it its
/// processor, the other one goes on, and both tasks are run.
#[test]
fn two_find_tasks_for_one_machine() {
    let outcomes = Outcomes::new();
    check(
        "a bound machine is lent one processor at a time",
        Bound::preemptions(3, 300),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut permits) = Pool::new(2);
                let queue = Queue::new();
                let (id, bound) = bind(&pool.coordinator);
                let (first, second) = (permits.remove(0), permits.remove(0));
                let find = |permit: Permit, machine| {
                    let (pool, queue) = (Arc::clone(&pool), Arc::clone(&queue));
                    move || {
                        pool.uses(&permit);
                        queue.push();
                        pool.pass();
                        pool.coordinator.lend(permit, machine, id).is_ok()
                    }
                };
                let other = thread::spawn(find(second, 1));
                let first_lends = find(first, 0)();
                let mut ran = 0;
                if let Some(permit) = pool.awake(bound) {
                    ran += work_bound(&pool, &queue, permit, bound);
                }
                let second_lends = other.join().unwrap();
                if let Some(permit) = pool.awake(bound) {
                    ran += work_bound(&pool, &queue, permit, bound);
                }
                assert_eq!(ran, 2, "a task is left behind");
                // A machine that has lent its processor has it back.
                for (machine, lends) in [(0, first_lends), (1, second_lends)] {
                    assert_eq!(pool.awake(machine).is_some(), lends);
                }
                outcomes.observe((first_lends, second_lends));
            }
        },
    );
    // Both, one after the other, if the first has its processor back before the second one lends
    // its own.
    outcomes.assert_exactly([(true, false), (false, true), (true, true)]);
}

/// One processor. The bound machine is in a blocking call, its lender sleeps with the processor. A
/// task is published as the call ends: the bound machine takes the processor, or the lender has
/// been woken and hands it over. Whichever way it came, there is a machine to return it to.
#[test]
fn a_bound_machine_is_back_as_a_task_is_published() {
    let outcomes = Outcomes::new();
    check(
        "a processor that a bound machine regains has a lender",
        Bound::exhaustive(25),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut permits) = Pool::new(1);
                let queue = Queue::new();
                let (id, bound) = bind(&pool.coordinator);
                let permit = lent(&pool, permits.remove(0), 0, (id, bound));
                pool.hand_off(permit, bound);
                let back = comes_back(&pool, bound);
                pool.publish();
                let at_once = back.join().unwrap();
                outcomes.observe(at_once.is_some());
                let permit = at_once.unwrap_or_else(|| {
                    let permit = pool.awake(0).expect("it was woken instead");
                    pool.coordinator.hand_to_waiter(permit, 0).unwrap();
                    pool.told_to_run(bound)
                });
                work_bound(&pool, &queue, permit, bound);
                drop(pool.told_to_run(0));
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// One processor, whose machine goes into a blocking call as the bound machine comes back from one.
/// It is not passed on from hand to hand: then the bound machine would have no lender to return it
/// to. It comes with the substitute.
#[test]
fn a_call_begins_as_a_bound_machine_is_back() {
    let outcomes = Outcomes::new();
    check(
        "a bound machine gets the processor and the substitute",
        Bound::exhaustive(500),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut permits) = Pool::new(1);
                let queue = Queue::new();
                let (id, bound) = bind(&pool.coordinator);
                let permit = lent(&pool, permits.remove(0), 0, (id, bound));
                pool.hand_off(permit, bound);
                let permit = takes_a_task(&pool, 0);
                let back = comes_back(&pool, bound);
                pool.hand_off(permit, 0);
                let at_once = back.join().unwrap();
                outcomes.observe(at_once.is_some());
                let permit = at_once.unwrap_or_else(|| pool.told_to_run(bound));
                work_bound(&pool, &queue, permit, bound);
                let substitute = bound + 1;
                drop(pool.told_to_run(substitute));
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// There is to be one processor instead of two, as the second one is lent to the bound machine,
/// which makes a blocking call and comes back. In the end the second processor is inactive, the
/// first one has been lent and returned, and no machine has been forgotten.
#[test]
fn fewer_as_one_is_lent() {
    check(
        "a lent processor too many is given up",
        Bound::preemptions(3, 1_600),
        || {
            let (pool, mut permits) = Pool::new(2);
            let queue = Queue::new();
            let (id, bound) = bind(&pool.coordinator);
            pool.go_idle(permits.remove(0), 0);
            let resizer = thread::spawn({
                let pool = Arc::clone(&pool);
                move || {
                    pool.pass();
                    pool.coordinator.shrink(1, &pool.queues);
                }
            });
            let mut permit = Some(lent(&pool, permits.remove(0), 1, (id, bound)));
            pool.pass();
            if pool.coordinator.control_word().is_surplus(1) {
                permit = permit.and_then(|permit| {
                    pool.coordinator
                        .retire_for_call(permit, bound, &pool.queues)
                        .err()
                });
            }
            if let Some(permit) = permit {
                pool.hand_off(permit, bound);
            }
            let at_once = pool.try_regain(bound);
            resizer.join().unwrap();
            let permit = at_once.unwrap_or_else(|| pool.told_to_run(bound));
            work_bound(&pool, &queue, permit, bound);
            let (lender, permit) = [0, 1]
                .into_iter()
                .find_map(|machine| pool.awake(machine).map(|permit| (machine, permit)))
                .expect("one gets it back");
            if pool
                .coordinator
                .control_word()
                .is_surplus(permit.processor())
            {
                pool.coordinator
                    .retire(permit, lender, &pool.queues)
                    .unwrap();
            } else {
                pool.go_idle(permit, lender);
            }
            let (permit, _) = pool.coordinator.take_idle().expect("the first one is idle");
            assert_eq!(permit.processor(), 0);
            pool.uses(&permit);
            assert!(pool.coordinator.take_idle().is_none(), "one too many");
            // Of the two that have lent or gone idle, one waits with the processor, and the other
            // one is a spare.
            assert!(pool.coordinator.grow(1, &pool.queues));
            let (_, machine) = pool.coordinator.take_idle().expect("nothing is there");
            assert!(machine < bound, "there is no spare");
        },
    );
}

/// One processor, whose machine finds a bound task, lends the processor, has it back and goes idle,
/// as an observer asks whether all is done. Yes means that the task has run. (That the bound
/// machine waits for another one is not something that goes on.)
#[test]
fn not_quiescent_before_a_bound_task_has_run() {
    let outcomes = Outcomes::new();
    check(
        "quiescent: not while a task waits for its thread",
        Bound::exhaustive(900),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut permits) = Pool::new(1);
                let queue = Queue::new();
                let (id, bound) = bind(&pool.coordinator);
                let permit = permits.remove(0);
                pool.publish();
                let machines = thread::spawn({
                    let (pool, queue) = (Arc::clone(&pool), Arc::clone(&queue));
                    move || {
                        assert!(pool.take());
                        queue.push();
                        let permit = lent(&pool, permit, 0, (id, bound));
                        // In the middle of it a blocking call, while which its lender goes idle.
                        pool.hand_off(permit, bound);
                        let permit = pool.back(bound);
                        assert_eq!(work_bound(&pool, &queue, permit, bound), 1);
                        let permit = pool.told_to_run(0);
                        pool.go_idle(permit, 0);
                    }
                });
                let quiescent = pool.is_quiescent();
                if quiescent {
                    assert!(queue.is_done(), "the task waits still");
                    let (permit, _) = pool.coordinator.take_idle().expect("it is idle");
                    pool.uses(&permit);
                }
                machines.join().unwrap();
                outcomes.observe(quiescent);
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}
