//! Guests: a thread from outside borrows an idle processor, and gives it back in the name of the
//! machine that sleeps with it.

use filch_models::{Bound, beside};
use filch_parker::Parker;
use filch_processors::protocol::{Grant, Permit};
use filch_sync::atomic::Ordering;

use super::end::all_leave;
use super::pool::Pool;

/// A guest's processor, and the machine that waits for it.
type CallerRuns = (Permit, usize);

/// Borrows a processor, if one is idle.
fn begins(pool: &Pool) -> Option<CallerRuns> {
    pool.pass();
    let (permit, lender) = pool.coordinator.borrow_idle()?;
    pool.uses(&permit);
    Some((permit, lender))
}

/// Gives it back.
fn ends(pool: &Pool, (permit, lender): CallerRuns) {
    pool.pass();
    pool.uses(&permit);
    pool.coordinator.give_back(permit, lender, &pool.queues);
}

/// Blocks the guest in a call. Returns its place, until it is unregistered.
fn blocks(pool: &Pool, (permit, lender): CallerRuns) -> (usize, Parker) {
    let place = pool.coordinator.register(lender).expect("there is room");
    pool.hand_off(permit, place.0);
    place
}

/// Brings the guest back from its call: it has no further place, and gives the processor back.
fn comes_back(pool: &Pool, (machine, parker): (usize, Parker)) {
    let permit = pool.coordinator.regain(machine, &parker);
    pool.uses(&permit);
    let lender = pool.coordinator.unregister(machine, parker);
    ends(pool, (permit, lender));
}

/// The one processor is idle. A guest comes and goes as a producer publishes a task: the producer
/// wakes the lender, or finds no idle processor, and then the guest does. A failure: the task waits
/// beside the processor, which nobody uses any more.
#[test]
fn against_a_producer() {
    Bound::exhaustive(50)
        .outcomes("what came during a visit is seen at its end", || {
            let pool = Pool::idle::<1>();
            let producer = beside(&pool, Pool::publish);
            let visit = begins(&pool);
            let visits = visit.is_some();
            visit.into_iter().for_each(|visit| ends(&pool, visit));
            let by_producer = producer.join().unwrap();
            pool.assert_first_is_awake();
            (visits, by_producer)
        })
        .assert_exactly([(true, true), (true, false), (false, true)]);
}

/// The guest leaves a task behind, which its own one has made runnable. A failure: nobody is woken
/// for it, as the only machine that could run it has lent its processor.
#[test]
fn what_a_guest_leaves_behind() {
    Bound::exhaustive(24_000)
        .outcomes("the lender is woken for what is left, once", || {
            let pool = Pool::idle::<1>();
            let other = beside(&pool, |pool| {
                begins(pool).map(|visit| ends(pool, visit)).is_some()
            });
            let visit = begins(&pool);
            let visits = visit.is_some();
            if let Some((permit, lender)) = visit {
                pool.schedule(&permit);
                ends(&pool, (permit, lender));
            }
            let other_visits = other.join().unwrap();
            assert_eq!(pool.awake(0).is_some(), visits, "woken for a task, or not");
            (visits, other_visits)
        })
        .assert_exactly([(true, true), (true, false), (false, true)]);
}

/// The pool is stopped as a guest comes and goes, and uses the processor. It is not over meanwhile;
/// afterwards the lender exits, whoever makes the end. A failure: the lender sleeps for ever, or
/// the pool is over beside a guest.
#[test]
fn against_the_end() {
    Bound::exhaustive(100)
        .outcomes("the end waits for a guest, and the lender is told", || {
            let pool = Pool::idle::<1>();
            let end = beside(&pool, Pool::stop);
            let visit = begins(&pool);
            let visits = visit.is_some();
            if let Some(visit) = visit {
                assert!(!pool.coordinator.is_over(), "it is over beside a guest");
                ends(&pool, visit);
            }
            end.join().unwrap();
            assert_eq!(
                pool.coordinator.take_grant(0),
                Some(Grant::Exit),
                "the lender sleeps for ever"
            );
            assert!(pool.coordinator.is_over());
            visits
        })
        .assert_exactly([true, false]);
}

/// Two processors, both idle, are to be one, as a guest has one of them. It is given up by the
/// resizer, or at the end of the visit, and its machine becomes a spare. A failure: it is still
/// there, or both are gone.
#[test]
fn against_a_resize() {
    Bound::preemptions(3, 500)
        .outcomes("a surplus processor goes at the end of the visit", || {
            let (pool, [first, second]) = Pool::new();
            pool.go_idle(first, 0);
            pool.go_idle(second, 1);
            let resizer = beside(&pool, |pool| pool.coordinator.shrink(1, &pool.queues));
            let visit = begins(&pool);
            let lender = visit.as_ref().map(|&(_, lender)| lender);
            visit.into_iter().for_each(|visit| ends(&pool, visit));
            resizer.join().unwrap();
            let (permit, machine) = pool.coordinator.take_idle().expect("the first stays");
            pool.uses(&permit);
            assert_eq!((permit.processor(), machine), (0, 0));
            assert!(pool.coordinator.take_idle().is_none(), "the second is gone");
            lender
        })
        .assert_exactly([Some(0), Some(1), None]);
}

/// A guest blocks, as a producer publishes a task, which the lender runs; the guest comes back
/// before that, meanwhile or afterwards, and gives the processor back to whichever machine has lost
/// it. A failure: two use it at once, or the guest waits for ever.
#[test]
fn a_guest_that_blocks() {
    Bound::preemptions(3, 400)
        .outcomes(
            "the lender has the processor while its guest blocks, and has it again at the end",
            || {
                let pool = Pool::idle::<1>();
                let visit = begins(&pool).expect("it is idle");
                let place = blocks(&pool, visit);
                let lender = beside(&pool, |pool| {
                    let woke = pool.publish();
                    let permit = pool.awake(0)?;
                    assert!(pool.take());
                    pool.coordinator.stop_searching(&pool.queues);
                    // Between two tasks it looks whether others wait.
                    let permit = match pool.coordinator.control_word().waiting() {
                        0 => permit,
                        _ => pool.coordinator.hand_to_waiter(permit, 0).err()?,
                    };
                    pool.go_idle(permit, 0);
                    Some(woke)
                });
                comes_back(&pool, place);
                let ran = lender.join().unwrap();
                let is_left = pool.queues.global.load(Ordering::Relaxed) > 0;
                assert_eq!(pool.awake(0).is_some(), is_left, "woken for a task, or not");
                assert_eq!(pool.coordinator.control_word().waiting(), 0);
                (ran.is_some(), is_left)
            },
        )
        .assert_exactly([(true, false), (false, true), (false, false)]);
}

/// A guest is in a blocking call as the pool is stopped. The pool is not over before it is back and
/// has given its processor back; then the lender exits, and the guest has left no place behind.
#[test]
fn a_guest_that_blocks_against_the_end() {
    Bound::preemptions(3, 100)
        .outcomes("the end waits for a guest in a call", || {
            let (pool, [first, second]) = Pool::new();
            pool.go_idle(first, 0);
            let visit = begins(&pool).expect("it is idle");
            let place = blocks(&pool, visit);
            let end = beside(&pool, |pool| {
                pool.go_idle(second, 1);
                pool.stop();
                pool.coordinator.is_over()
            });
            assert!(!pool.coordinator.is_over(), "it is over beside a call");
            comes_back(&pool, place);
            let outcome = end.join().unwrap();
            all_leave(&pool);
            outcome
        })
        .assert_exactly([true, false]);
}
