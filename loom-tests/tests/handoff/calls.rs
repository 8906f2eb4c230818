//! Blocking calls.

use filch_processors::protocol::Hold;
use filch_sync::thread::JoinHandle;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

use crate::pool::Pool;

/// The machine comes back from its call, on a thread of its own: with a processor, or in line for
/// one.
pub(crate) fn comes_back(pool: &Arc<Pool>, machine: usize) -> JoinHandle<Option<Hold>> {
    let pool = Arc::clone(pool);
    thread::spawn(move || pool.try_regain(machine))
}

/// A task is published, for which the machine is woken, and which it takes.
pub(crate) fn takes_a_task(pool: &Pool, machine: usize) -> Hold {
    pool.publish();
    let hold = pool.awake(machine).expect("it is woken for the task");
    assert!(pool.take());
    assert!(!pool.crew.stop_searching(&pool.queues));
    hold
}

/// One processor. Its machine 0 is in a blocking call, machine 1 rests with it. A producer
/// publishes a task just as 0 comes back. Either 0 takes the processor (1 stands by, and 0 will
/// find the task when its own is done), or the producer has popped it for 1, and 0 waits: then 1
/// sees that on the board, and hands it over. Two holders would be a data race on the processor's
/// cell; a forgotten one shows in the end.
#[test]
fn a_return_against_a_producer() {
    let outcomes = Outcomes::new();
    check(
        "one of them gets the processor, the other one is told",
        Bound::exhaustive(20),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(1);
                pool.hand_off(holds.remove(0), 0);
                let back = comes_back(&pool, 0);
                pool.publish();
                let at_once = back.join().unwrap();
                let popped = pool.awake(1);
                outcomes.observe((at_once.is_some(), popped.is_some()));
                if let Some(hold) = popped {
                    assert_eq!(pool.crew.notice().waiting, 1, "the other one waits");
                    pool.crew.hand_over(hold, 1).unwrap();
                    drop(pool.told_to_run(0));
                } else {
                    assert!(at_once.is_some(), "nobody has the processor");
                }
                assert_eq!(pool.crew.notice().waiting, 0);
            }
        },
    );
    outcomes.assert_exactly([(true, false), (false, true)]);
}

/// One processor, which machine 1 holds: it has nothing to do and goes idle, just as machine 0
/// comes back from its call and finds none. Either the one sees the other on the board, or the
/// other one sees it on the stack. A failure would be a thread that waits for ever beside an idle
/// processor.
#[test]
fn a_return_against_a_processor_that_goes_idle() {
    let outcomes = Outcomes::new();
    check(
        "the one that waits gets the processor that goes idle",
        Bound::exhaustive(25),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(1);
                pool.hand_off(holds.remove(0), 0);
                let hold = takes_a_task(&pool, 1);
                let back = comes_back(&pool, 0);
                pool.rest(hold, 1);
                let hold = back.join().unwrap();
                outcomes.observe(hold.is_some());
                drop(hold.unwrap_or_else(|| pool.told_to_run(0)));
                assert_eq!(pool.crew.notice().waiting, 0);
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// Machine 0 goes into a blocking call just as a producer publishes a task, on its one processor.
/// The machine that takes its place is woken, by the one or the other, and once: the task does not
/// wait for the end of the call.
#[test]
fn a_call_begins_as_a_task_is_published() {
    check(
        "the substitute is woken for the task",
        Bound::exhaustive(100),
        || {
            let (pool, mut holds) = Pool::new(1);
            let producer = thread::spawn({
                let pool = Arc::clone(&pool);
                move || pool.publish()
            });
            pool.hand_off(holds.remove(0), 0);
            producer.join().unwrap();
            assert!(
                pool.awake(1).is_some(),
                "a task is there, and its processor sleeps"
            );
        },
    );
}

/// Machine 0 is on its way into a blocking call as 1 comes back from one: the processor goes
/// straight to 1, or 1 takes it from the stack, or is served by the second look. Nobody else gets
/// it, and no thread is started in vain for long: the substitute stands by.
#[test]
fn a_call_begins_as_another_one_ends() {
    let outcomes = Outcomes::new();
    check(
        "the processor goes from one call to the other",
        Bound::exhaustive(45),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(1);
                pool.hand_off(holds.remove(0), 0);
                let hold = pool.try_regain(0).expect("it is idle");
                // 0 runs, 1 stands by. Now 0 blocks, and 1 is woken for a task; it blocks while 0
                // comes back.
                pool.hand_off(hold, 0);
                let hold = takes_a_task(&pool, 1);
                let back = comes_back(&pool, 0);
                pool.hand_off(hold, 1);
                let at_once = back.join().unwrap();
                outcomes.observe(at_once.is_some());
                drop(at_once.unwrap_or_else(|| pool.told_to_run(0)));
                assert!(pool.crew.take_idle().is_none());
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// Two come back at once, while the one processor is held by a third, which hands it over between
/// two tasks: it goes to one of them, and from that one to the other. Nobody overtakes for ever,
/// and nobody is forgotten.
#[test]
fn two_returns_and_one_processor() {
    let outcomes = Outcomes::new();
    check(
        "who waits longest is served first, then the other",
        Bound::preemptions(3, 1_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(1);
                pool.hand_off(holds.remove(0), 0);
                pool.publish();
                let hold = pool.awake(1).expect("it was woken");
                assert!(!pool.crew.stop_searching(&pool.queues), "nobody is idle");
                pool.hand_off(hold, 1);
                let hold = pool.awake(2).expect("the task is still there");
                assert!(!pool.crew.stop_searching(&pool.queues), "nobody is idle");
                assert!(pool.take());
                let others: Vec<_> = [0, 1]
                    .map(|machine| {
                        let pool = Arc::clone(&pool);
                        thread::spawn(move || pool.try_regain(machine))
                    })
                    .into();
                // Machine 2, between two tasks.
                pool.pass();
                let early = pool.crew.hand_over(hold, 2);
                for other in others {
                    assert!(other.join().unwrap().is_none(), "there is no idle one");
                }
                let was_early = early.is_ok();
                if let Err(hold) = early {
                    pool.crew.hand_over(hold, 2).unwrap();
                }
                let (first, hold) = [0, 1]
                    .into_iter()
                    .find_map(|machine| pool.awake(machine).map(|hold| (machine, hold)))
                    .expect("one has it");
                pool.crew.hand_over(hold, first).unwrap();
                drop(pool.told_to_run(1 - first));
                outcomes.observe((was_early, first));
            }
        },
    );
    outcomes.assert_exactly([(true, 0), (true, 1), (false, 0), (false, 1)]);
}

/// A machine that is awake looks for its turn as it is granted, without a token: the grant alone
/// must carry all that the last holder did on the processor. A failure would be a data race on the
/// processor's cell.
#[test]
fn a_grant_that_is_found_without_a_token() {
    let outcomes = Outcomes::new();
    check(
        "whoever finds its grant has the processor, and all that was done on it",
        Bound::preemptions(3, 100),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(1);
                pool.hand_off(holds.remove(0), 0);
                let machine = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || {
                        pool.pass();
                        pool.awake(1).is_some()
                    }
                });
                let (hold, substitute) = pool.crew.take_idle().expect("it is idle");
                let holder = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || {
                        pool.uses(&hold);
                        pool.crew.rest(hold, substitute, false, &pool.queues);
                    }
                });
                pool.publish();
                holder.join().unwrap();
                outcomes.observe(machine.join().unwrap());
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// Two processors, one idle. The other one's machine searches, and finds a task, as a producer
/// publishes a second one and relies on it: before it runs the first it looks once more, and wakes
/// the other one for the second.
#[test]
fn the_last_searcher_looks_once_more() {
    let outcomes = Outcomes::new();
    check(
        "what a producer left to the last searcher wakes another",
        Bound::exhaustive(20),
        {
            let outcomes = outcomes.clone();
            move || {
                let (pool, mut holds) = Pool::new(2);
                pool.rest(holds.remove(0), 0);
                pool.rest(holds.remove(0), 1);
                pool.publish();
                let hold = pool.awake(1).expect("the upper one is woken");
                let producer = thread::spawn({
                    let pool = Arc::clone(&pool);
                    move || pool.publish()
                });
                pool.pass();
                assert!(pool.take());
                let by_searcher = pool.crew.stop_searching(&pool.queues);
                let by_producer = producer.join().unwrap();
                assert!(
                    pool.awake(0).is_some(),
                    "a task is there, and its processor sleeps"
                );
                outcomes.observe((by_searcher, by_producer));
                drop(hold);
            }
        },
    );
    outcomes.assert_exactly([(true, false), (false, true)]);
}
