//! The latch between the owner of a stolen job and its thief.

use filch_fork_join::protocol::{Awaited, Latch, Thief, finish, seat_of, wait};
use filch_parker::Parker;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

use crate::{Plain, seat, shared};

const OWNER: usize = 3;

const THIEF: Thief = Thief { seat: 5, base: 9 };

/// Two threads: the thief leaves its result and finishes, while the owner goes to sleep. If the
/// owner has said so before, the thief is told which seat to wake; if not, the owner does not
/// sleep. A failure: an owner that nobody wakes (a deadlock), the wrong seat, or a result that is
/// read before it is there (a causality violation).
#[test]
fn an_owner_sleeps_until_its_thief_is_done() {
    Outcomes::of("latch: sleep against finish", Bound::exhaustive(10), || {
        let shared = Arc::new((Latch::new(), Plain::new(), Plain::new()));
        let parker = Parker::new();
        let thief = thread::spawn({
            let (shared, unparker) = (Arc::clone(&shared), parker.unparker());
            move || {
                let (latch, result, owner) = &*shared;
                latch.begin(THIEF);
                result.set(7);
                let sleeper = latch.finish();
                if sleeper.is_some() {
                    assert_eq!(owner.get(), 1);
                    unparker.unpark();
                }
                sleeper
            }
        });
        let (latch, result, owner) = &*shared;
        owner.set(1);
        let mut has_slept = false;
        while !latch.is_done() {
            if latch.sleep(OWNER) {
                has_slept = true;
                parker.park();
                assert!(latch.is_done(), "woken for nothing");
            }
        }
        assert_eq!(result.get(), 7);
        let sleeper = thief.join().unwrap();
        assert_eq!(sleeper, has_slept.then_some(OWNER));
        has_slept
    })
    .assert_exactly([false, true]);
}

/// Two threads: the thief says who it is while the owner goes to sleep, twice, and asks who the
/// thief is. Neither overwrites the other, in either order. A failure: an owner that looks awake,
/// or a thief that it takes for another one.
#[test]
fn a_thief_begins_beside_a_sleep() {
    Outcomes::of("latch: sleep against begin", Bound::exhaustive(4), || {
        let latch = Arc::new(Latch::new());
        let thief = thread::spawn({
            let latch = Arc::clone(&latch);
            move || latch.begin(THIEF)
        });
        assert!(latch.sleep(OWNER), "it is not done");
        let seen = latch.thief();
        assert!(latch.sleep(OWNER), "it is not done");
        thief.join().unwrap();
        assert_eq!(latch.thief(), Some(THIEF));
        assert!(!latch.is_done());
        assert_eq!(latch.finish(), Some(OWNER));
        assert_eq!(latch.thief(), None);
        assert!(latch.is_done() && !latch.sleep(OWNER));
        seen.map(|thief| (thief.seat, thief.base))
    })
    .assert_exactly([None, Some((THIEF.seat, THIEF.base))]);
}

/// Two threads: a thief and an owner that have just taken their seats. The owner looks into its
/// thief's deque, and the thief wakes the owner. A failure: one of them reads the number of a seat
/// that it cannot see yet, and panics in the middle of its job.
#[test]
fn newcomers_see_each_others_seats() {
    check(
        "latch: the seats of newcomers",
        Bound::preemptions(2, 500),
        || {
            let shared = shared();
            let latch = Arc::new(Latch::new());
            let thief = thread::spawn({
                let (shared, latch) = (Arc::clone(&shared), Arc::clone(&latch));
                move || {
                    let worker = seat(&shared);
                    latch.begin(Thief {
                        seat: seat_of(&worker),
                        base: 0,
                    });
                    finish(&shared, &latch);
                }
            });
            wait(&seat(&shared), &latch);
            thief.join().unwrap();
        },
    );
}
