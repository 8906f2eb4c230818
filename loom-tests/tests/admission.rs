//! Models of the process table's admission: which of the processes that leave is told that it was
//! the last one, once nobody is admitted any more.

use std::num::NonZeroUsize;

use filch_models::{Bound, beside};
use filch_scheduler::NotAdmitted;
use filch_scheduler::table::Admission;
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};

/// The deed of a process before it left.
struct Deed(UnsafeCell<bool>);

// SAFETY: each is written by one thread, and read by a thread that learns that all have left: the
// claim under test.
unsafe impl Sync for Deed {}

/// Threads: main, two others. Two processes live; each leaves by another worker while main closes
/// the admission. One thread at least must count none: main, or one of the leavers; and it must see
/// the deeds of both. A failure: none does (the workers would never be told to stop), or a
/// causality violation of a cell.
#[test]
fn two_leave_by_different_shards_while_it_closes() {
    Bound::preemptions(3, 500)
        .outcomes("the last one out is noticed", || {
            let admission = Arc::new(Admission::new(None, 2));
            let deeds = Arc::new([0; 2].map(|_| Deed(UnsafeCell::new(false))));
            assert!(admission.enter(None).is_ok() && admission.enter(None).is_ok());
            let look = |deeds: &[Deed; 2]| {
                for deed in deeds {
                    // SAFETY: all have left, which happens before.
                    assert!(deed.0.with(|done| unsafe { *done }));
                }
            };
            let leavers = [0, 1].map(|worker| {
                let (admission, deeds) = (admission.clone(), deeds.clone());
                thread::spawn(move || {
                    // SAFETY: this thread's own until it leaves.
                    deeds[worker].0.with_mut(|done| unsafe { *done = true });
                    let last = admission.leave(Some(worker));
                    if last {
                        look(&deeds);
                    }
                    last
                })
            });
            let empty = admission.close();
            if empty {
                look(&deeds);
            }
            let last = leavers.map(|leaver| leaver.join().unwrap());
            assert!(empty || last.contains(&true), "none was the last one");
            (empty, last)
        })
        .assert_reached([
            (true, [false; 2]),
            (false, [true, false]),
            (false, [false, true]),
        ]);
}

/// Threads: main, two others. One process stays. Another enters by one shard and leaves by a later
/// one, a third leaves by that one too, while main closes. No thread may count none. A failure: a
/// thread has missed the entering and seen the leaving.
#[test]
fn one_that_stays_is_never_overlooked() {
    Bound::preemptions(5, 5_000).check("one that stays is counted", || {
        let admission = Arc::new(Admission::new(None, 2));
        assert!(admission.enter(None).is_ok() && admission.enter(None).is_ok());
        let passer = beside(&admission, |admission| {
            admission.enter(Some(0)).is_ok() && admission.leave(Some(1))
        });
        let leaver = beside(&admission, |admission| admission.leave(Some(1)));
        assert!(!admission.close(), "one stays");
        assert!(!passer.join().unwrap(), "one stays");
        assert!(!leaver.join().unwrap(), "one stays");
        assert_eq!(admission.live(), 1);
    });
}

/// Threads: main, one other. With a limit there is one shard. The last process leaves while main
/// closes and waits: exactly one of them counts none, and the wait ends. A failure: both or neither
/// do, a wait that is not woken (a deadlock), or another process that is admitted.
#[test]
fn the_one_shard_of_a_limited_one() {
    Bound::exhaustive(20)
        .outcomes("a limited one closes", || {
            let limit = NonZeroUsize::new(1).unwrap();
            let admission = Arc::new(Admission::new(Some(limit), 2));
            assert!(admission.enter(Some(1)).is_ok());
            let refused = admission.enter(None);
            assert!(matches!(refused, Err(NotAdmitted::LimitReached(at)) if at == limit));
            let leaver = beside(&admission, |admission| admission.leave(Some(0)));
            let empty = admission.close();
            assert!(matches!(admission.enter(None), Err(NotAdmitted::ShutDown)));
            assert!(admission.wait(None));
            let last = leaver.join().unwrap();
            assert!(empty || last, "none was the last one");
            (empty, last)
        })
        .assert_reached([(true, false), (false, true)]);
}
