//! Models of the process table's admission: which of the processes that leave is told that it was
//! the last one, once nobody is admitted any more.
#![cfg(loom)]

use std::num::NonZeroUsize;
use std::time::Duration;

use filch_process_table::{Admission, Refusal};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

/// What a process did before it left.
struct Deed(UnsafeCell<bool>);

// SAFETY: each is written by one thread, and read by whoever learns that all have left: the claim
// under test.
unsafe impl Sync for Deed {}

/// Threads: main, two others. Two processes are inside; each is let out by a worker of its own
/// while main closes the doors. Somebody must find the house empty: main, or one of the leavers;
/// and who finds that must have the deeds of both before it. A failure: nobody does (the workers
/// would never be sent home), or a causality violation of a cell.
#[test]
fn two_leave_by_different_doors_while_the_house_closes() {
    let outcomes = Outcomes::new();
    check("the last one out is noticed", Bound::preemptions(3, 500), {
        let outcomes = outcomes.clone();
        move || {
            let house = Arc::new(Admission::new(None, 2));
            let deeds = Arc::new([0; 2].map(|_| Deed(UnsafeCell::new(false))));
            assert_eq!([house.enter(None), house.enter(None)], [Ok(()); 2]);
            let look = |deeds: &[Deed; 2]| {
                for deed in deeds {
                    // SAFETY: all have left, which happens before.
                    assert!(deed.0.with(|done| unsafe { *done }));
                }
            };
            let leavers = [0, 1].map(|worker| {
                let (house, deeds) = (house.clone(), deeds.clone());
                thread::spawn(move || {
                    // SAFETY: this thread's own until it leaves.
                    deeds[worker].0.with_mut(|done| unsafe { *done = true });
                    let last = house.leave(Some(worker));
                    if last {
                        look(&deeds);
                    }
                    last
                })
            });
            let empty = house.close();
            if empty {
                look(&deeds);
            }
            let last = leavers.map(|leaver| leaver.join().unwrap());
            assert!(empty || last.contains(&true), "nobody was the last one");
            outcomes.observe((empty, last));
        }
    });
    outcomes.assert_reached([
        (true, [false; 2]),
        (false, [true, false]),
        (false, [false, true]),
    ]);
}

/// Threads: main, two others. One process stays inside. Another comes in by one door and goes out
/// by a later one, a third goes out by that one too, while main closes. Nobody may find the house
/// empty. A failure: somebody has missed the coming in and seen the going out.
#[test]
fn one_who_stays_is_never_overlooked() {
    check(
        "a house with somebody in it is not empty",
        Bound::preemptions(5, 5_000),
        || {
            let house = Arc::new(Admission::new(None, 2));
            assert_eq!([house.enter(None), house.enter(None)], [Ok(()); 2]);
            let passer = thread::spawn({
                let house = house.clone();
                move || house.enter(Some(0)).is_ok() && house.leave(Some(1))
            });
            let leaver = thread::spawn({
                let house = house.clone();
                move || house.leave(Some(1))
            });
            assert!(!house.close(), "one is inside");
            assert!(!passer.join().unwrap(), "one is inside");
            assert!(!leaver.join().unwrap(), "one is inside");
            assert_eq!(house.live(), 1);
        },
    );
}

/// Threads: main, one other. With a limit there is one door. The last of two leaves while main
/// closes and waits: exactly one of them finds the house empty, and the wait ends. A failure: both
/// or neither do, a wait that is not woken (a deadlock), or a third that is let in.
#[test]
fn the_one_door_of_a_limited_house() {
    let outcomes = Outcomes::new();
    check("a limited house closes", Bound::exhaustive(20), {
        let outcomes = outcomes.clone();
        move || {
            let limit = NonZeroUsize::new(1).unwrap();
            let house = Arc::new(Admission::new(Some(limit), 2));
            assert_eq!(house.enter(Some(1)), Ok(()));
            assert_eq!(house.enter(None), Err(Refusal::Full(limit)));
            let leaver = thread::spawn({
                let house = house.clone();
                move || house.leave(Some(0))
            });
            let empty = house.close();
            assert_eq!(house.enter(None), Err(Refusal::Closed));
            assert!(house.wait(Duration::MAX));
            let last = leaver.join().unwrap();
            assert!(empty || last, "nobody was the last one");
            outcomes.observe((empty, last));
        }
    });
    outcomes.assert_reached([(true, false), (false, true)]);
}
