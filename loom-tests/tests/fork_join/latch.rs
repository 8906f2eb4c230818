//! The latch between the owner of a stolen job and its thief.

use filch_fork_join::protocol::{Awaited, Latch, Thief, wait};
use filch_models::{Bound, Crossing, beside};
use filch_parker::Parker;
use filch_sync::{Arc, thread};

use super::{Plain, registered, shared};

/// The latch's word before the job begins, in place of a kind.
const HELD: u64 = 8 << 40 | 8;

const THIEF: Thief = Thief { slot: 5, base: 9 };

/// Two threads: the thief leaves its result and finishes, while the owner goes to sleep. If the
/// owner has said so before, the thief is to wake it; if not, the owner does not sleep. A failure:
/// an owner that nobody wakes (a deadlock), or a result that is read before it is there (a
/// causality violation).
#[test]
fn an_owner_sleeps_until_its_thief_is_done() {
    Bound::exhaustive(110)
        .outcomes("latch: sleep against finish", || {
            let shared = Arc::new((Latch::holding(HELD), Plain::new()));
            let parker = Parker::new();
            let thief = thread::spawn({
                let (shared, unparker) = (Arc::clone(&shared), parker.unparker());
                move || {
                    let (latch, result) = &*shared;
                    latch.begin(THIEF);
                    result.set(7);
                    let sleeps = latch.finish();
                    if sleeps {
                        unparker.unpark();
                    }
                    sleeps
                }
            });
            let (latch, result) = &*shared;
            let mut has_slept = false;
            while !latch.is_done() {
                if latch.sleep(0) {
                    has_slept = true;
                    parker.park();
                    assert!(latch.is_done(), "woken for nothing");
                }
            }
            assert_eq!(result.get(), 7);
            assert_eq!(thief.join().unwrap(), has_slept);
            has_slept
        })
        .assert_exactly([false, true]);
}

/// Two threads: the thief says who it is while the owner goes to sleep, twice, and asks who the
/// thief is. Neither overwrites the other, in either order. A failure: an owner that looks awake,
/// or a thief that it takes for another one.
#[test]
fn a_thief_begins_beside_a_sleep() {
    Bound::exhaustive(30)
        .outcomes("latch: sleep against begin", || {
            let latch = Arc::new(Latch::holding(HELD));
            let thief = beside(&latch, |latch| latch.begin(THIEF));
            assert!(latch.sleep(0), "it is not done");
            let seen = latch.thief();
            assert!(latch.sleep(0), "it is not done");
            thief.join().unwrap();
            assert_eq!(latch.thief(), Some(THIEF));
            assert!(!latch.is_done());
            assert!(latch.finish());
            assert_eq!(latch.thief(), None);
            assert!(latch.is_done() && !latch.sleep(0));
            seen.map(|thief| (thief.slot, thief.base))
        })
        .assert_exactly([None, Some((THIEF.slot, THIEF.base))]);
}

/// Two threads: an owner, and a thief that has just taken its slot. The owner looks into the
/// thief's deque. A failure: it reads the number of a slot that it cannot see yet, and panics in
/// the middle of its job.
#[test]
fn the_slot_of_a_newcomer_is_seen() {
    Bound::preemptions(2, 470).check("latch: the slot of a newcomer", || {
        let shared = shared();
        let owner = registered(&shared);
        let latch = Arc::new(Latch::holding(HELD));
        let crossing = Crossing::new();
        let thief = thread::spawn({
            let (shared, latch) = (Arc::clone(&shared), Arc::clone(&latch));
            let crossing = crossing.clone();
            let owner = owner.index();
            move || {
                let worker = registered(&shared);
                latch.begin(Thief {
                    slot: worker.index(),
                    base: 0,
                });
                crossing.pass();
                shared.finish(&latch, owner);
            }
        });
        crossing.pass();
        wait(&owner, &latch);
        thief.join().unwrap();
    });
}
