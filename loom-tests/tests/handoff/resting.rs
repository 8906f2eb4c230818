//! Machines that have made way.

use filch_processors::protocol::Permit;
use filch_sync::Arc;
use loom_tests::{Bound, beside};

use crate::pool::Pool;

/// One processor, whose machine 0 has made way for a task. That has been run by machine 1, which
/// has the processor.
fn made_way() -> (Arc<Pool>, Permit) {
    let (pool, [permit]) = Pool::new();
    pool.publish();
    pool.hand_off(permit, 0);
    let permit = pool.awake(1).expect("it is woken for the task");
    assert!(pool.take());
    assert!(!pool.coordinator.stop_searching(&pool.queues));
    (pool, permit)
}

/// The rest of machine 0 is over just as machine 1 finds nothing else. Machine 0 gets the
/// processor: from machine 1, before its rest is over; or at the end of that, from the idle stack
/// or in line. A failure: it is on neither list, and is forgotten; or it gets two (a data race on
/// the processor's cell).
#[test]
fn a_rest_that_ends_against_a_processor_that_has_nothing_to_do() {
    Bound::exhaustive(100)
        .outcomes("a machine that has made way gets a processor, once", || {
            let (pool, permit) = made_way();
            pool.coordinator.begin_to_rest(0);
            let back = beside(&pool, |pool| {
                let stops = pool.coordinator.stop_resting(0);
                stops.then(|| pool.try_regain(0)).flatten()
            });
            let handed = pool.coordinator.hand_to_resting(permit, 1);
            let was_handed = handed.is_ok();
            if let Err(permit) = handed {
                pool.go_idle(permit, 1);
            }
            let at_once = back.join().unwrap();
            let outcome = (was_handed, at_once.is_some());
            drop(at_once.unwrap_or_else(|| pool.told_to_run(0)));
            assert_eq!(pool.coordinator.control_word().waiting(), 0);
            outcome
        })
        .assert_exactly([(true, false), (false, false), (false, true)]);
}

/// Machine 0 begins to rest just as the processor goes idle. One of the two sees the other. A
/// failure: a machine that rests beside an idle processor, until its rest is over.
#[test]
fn a_rest_that_begins_against_a_processor_that_goes_idle() {
    Bound::exhaustive(20).check("no machine rests beside an idle processor", || {
        let (pool, permit) = made_way();
        let idle = beside(&pool, |pool| pool.go_idle(permit, 1));
        pool.pass();
        pool.coordinator.begin_to_rest(0);
        idle.join().unwrap();
        drop(pool.told_to_run(0));
        assert!(!pool.coordinator.stop_resting(0));
    });
}
