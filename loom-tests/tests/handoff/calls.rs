//! Blocking calls.

use filch_models::{Bound, beside};
use filch_processors::protocol::Permit;
use filch_sync::thread::JoinHandle;
use filch_sync::{Arc, thread};

use super::pool::Pool;

/// Brings the machine back from its call, on a thread of its own: with a processor, or in line for
/// one.
pub(crate) fn comes_back(pool: &Arc<Pool>, machine: usize) -> JoinHandle<Option<Permit>> {
    let pool = Arc::clone(pool);
    thread::spawn(move || pool.try_regain(machine))
}

/// Publishes a task, for which the machine is woken, and which it takes.
pub(crate) fn takes_a_task(pool: &Pool, machine: usize) -> Permit {
    pool.publish();
    let permit = pool.awake(machine).expect("it is woken for the task");
    assert!(pool.take());
    assert!(!pool.coordinator.stop_searching(&pool.queues));
    permit
}

/// One processor. Its machine 0 is in a blocking call, machine 1 rests with it. A producer
/// publishes a task just as 0 comes back. Either 0 takes the processor (1 becomes a spare, and 0
/// will find the task when its own is done), or the producer has popped it for 1, and 0 waits: then
/// 1 sees that in the control word, and hands it to 0. Two holders would be a data race on the
/// processor's cell; a forgotten one shows in the end.
#[test]
fn a_return_against_a_producer() {
    Bound::exhaustive(20)
        .outcomes(
            "one of them gets the processor, the other one is told",
            || {
                let (pool, [permit]) = Pool::new();
                pool.hand_off(permit, 0);
                let back = comes_back(&pool, 0);
                pool.publish();
                let at_once = back.join().unwrap();
                let popped = pool.awake(1);
                let outcome = (at_once.is_some(), popped.is_some());
                if let Some(permit) = popped {
                    assert_eq!(
                        pool.coordinator.control_word().waiting(),
                        1,
                        "the other one waits"
                    );
                    pool.coordinator.hand_to_waiter(permit, 1).unwrap();
                    drop(pool.told_to_run(0));
                } else {
                    assert!(at_once.is_some(), "no machine has the processor");
                }
                assert_eq!(pool.coordinator.control_word().waiting(), 0);

                outcome
            },
        )
        .assert_exactly([(true, false), (false, true)]);
}

/// One processor, on which machine 1 runs: it has nothing to do and goes idle, just as machine 0
/// comes back from its call and finds none. Either the one sees in the control word that the other
/// waits, or the other sees it on the stack. A failure would be a thread that waits for ever beside
/// an idle processor.
#[test]
fn a_return_against_a_processor_that_goes_idle() {
    Bound::exhaustive(25)
        .outcomes(
            "the one that waits gets the processor that goes idle",
            || {
                let (pool, [permit]) = Pool::new();
                pool.hand_off(permit, 0);
                let permit = takes_a_task(&pool, 1);
                let back = comes_back(&pool, 0);
                pool.go_idle(permit, 1);
                let permit = back.join().unwrap();
                let outcome = permit.is_some();
                drop(permit.unwrap_or_else(|| pool.told_to_run(0)));
                assert_eq!(pool.coordinator.control_word().waiting(), 0);

                outcome
            },
        )
        .assert_exactly([true, false]);
}

/// Machine 0 goes into a blocking call just as a producer publishes a task, on its one processor.
/// The machine that takes its place is woken, by the one or the other, and once: the task does not
/// wait for the end of the call.
#[test]
fn a_call_begins_as_a_task_is_published() {
    Bound::exhaustive(100).check("the substitute is woken for the task", || {
        let (pool, [permit]) = Pool::new();
        let producer = beside(&pool, Pool::publish);
        pool.hand_off(permit, 0);
        producer.join().unwrap();
        assert!(
            pool.awake(1).is_some(),
            "a task is there, and its processor sleeps"
        );
    });
}

/// Machine 0 is on its way into a blocking call as 1 comes back from one: the processor goes
/// straight to 1, or 1 takes it from the stack, or is served by the second look. No other machine
/// gets it, and no thread is started in vain for long: the substitute becomes a spare.
#[test]
fn a_call_begins_as_another_one_ends() {
    Bound::exhaustive(45)
        .outcomes("the processor goes from one call to the other", || {
            let (pool, [permit]) = Pool::new();
            pool.hand_off(permit, 0);
            let permit = pool.try_regain(0).expect("it is idle");
            // 0 runs, 1 is a spare. Now 0 blocks, and 1 is woken for a task; it blocks while 0
            // comes back.
            pool.hand_off(permit, 0);
            let permit = takes_a_task(&pool, 1);
            let back = comes_back(&pool, 0);
            pool.hand_off(permit, 1);
            let at_once = back.join().unwrap();
            let outcome = at_once.is_some();
            drop(at_once.unwrap_or_else(|| pool.told_to_run(0)));
            assert!(pool.coordinator.take_idle().is_none());
            outcome
        })
        .assert_exactly([true, false]);
}

/// Two come back at once, while a third runs on the one processor, and hands it over between two
/// tasks: it goes to one of them, and from that one to the other. None overtakes for ever, and none
/// is forgotten.
#[test]
fn two_returns_and_one_processor() {
    Bound::preemptions(3, 1_000)
        .outcomes("the longest waiter is served first, then the other", || {
            let (pool, [permit]) = Pool::new();
            pool.hand_off(permit, 0);
            pool.publish();
            let permit = pool.awake(1).expect("it was woken");
            assert!(
                !pool.coordinator.stop_searching(&pool.queues),
                "no processor is idle"
            );
            pool.hand_off(permit, 1);
            let permit = pool.awake(2).expect("the task is still there");
            assert!(
                !pool.coordinator.stop_searching(&pool.queues),
                "no processor is idle"
            );
            assert!(pool.take());
            let others: Vec<_> = [0, 1]
                .map(|machine| {
                    let pool = Arc::clone(&pool);
                    thread::spawn(move || pool.try_regain(machine))
                })
                .into();
            // Machine 2, between two tasks.
            pool.pass();
            let early = pool.coordinator.hand_to_waiter(permit, 2);
            for other in others {
                assert!(other.join().unwrap().is_none(), "there is no idle one");
            }
            let was_early = early.is_ok();
            if let Err(permit) = early {
                pool.coordinator.hand_to_waiter(permit, 2).unwrap();
            }
            let (first, permit) = [0, 1]
                .into_iter()
                .find_map(|machine| pool.awake(machine).map(|permit| (machine, permit)))
                .expect("one has it");
            pool.coordinator.hand_to_waiter(permit, first).unwrap();
            drop(pool.told_to_run(1 - first));
            (was_early, first)
        })
        .assert_exactly([(true, 0), (true, 1), (false, 0), (false, 1)]);
}

/// A machine that is awake looks for its grant as it is given, without a token: the grant alone
/// must carry all that the last machine did on the processor. A failure would be a data race on the
/// processor's cell.
#[test]
fn a_grant_that_is_found_without_a_token() {
    Bound::preemptions(3, 100)
        .outcomes(
            "a machine that finds its grant has the processor, and all that was done on it",
            || {
                let (pool, [permit]) = Pool::new();
                pool.hand_off(permit, 0);
                let machine = beside(&pool, |pool| {
                    pool.pass();
                    pool.awake(1).is_some()
                });
                let (permit, substitute) = pool.coordinator.take_idle().expect("it is idle");
                let holder = beside(&pool, move |pool| {
                    pool.uses(&permit);
                    pool.coordinator
                        .go_idle(permit, substitute, false, &pool.queues);
                });
                pool.publish();
                holder.join().unwrap();
                machine.join().unwrap()
            },
        )
        .assert_exactly([true, false]);
}

/// Two processors, one idle. The other one's machine searches, and finds a task, as a producer
/// publishes a second one and relies on it: before it runs the first it looks once more, and wakes
/// the other one for the second.
#[test]
fn the_last_searcher_looks_once_more() {
    Bound::exhaustive(20)
        .outcomes(
            "what a producer left to the last searcher wakes another",
            || {
                let pool = Pool::idle::<2>();
                pool.publish();
                let permit = pool.awake(1).expect("the upper one is woken");
                let producer = beside(&pool, Pool::publish);
                pool.pass();
                assert!(pool.take());
                let by_searcher = pool.coordinator.stop_searching(&pool.queues);
                let by_producer = producer.join().unwrap();
                pool.assert_first_is_awake();
                drop(permit);

                (by_searcher, by_producer)
            },
        )
        .assert_exactly([(true, false), (false, true)]);
}
