//! Slots that a thread gives back together: afterwards each has one owner, who sees what was done.

use filch_models::{Bound, Crossing, beside, beside_both};
use filch_slab::{Batch, Slab};
use filch_sync::Arc;

use crate::owned::{Owned, bump, owned, told};

/// Bumps the two slots, and gives them back together, the second on top. Returns true if they were
/// the last ones of a retired slab.
fn give_back(slab: &Slab<Owned>, slots: [u32; 2]) -> bool {
    let mut batch = Batch::default();
    for slot in slots {
        bump(slab, slot);
        assert!(!slab.release_into(&mut batch, slot), "it is kept back");
    }
    slab.give_back(&mut batch)
}

/// Threads: main, one other, which gives back the only two slots together. Main allocates twice. A
/// failure: it gets a slot before that is given back, or does not see what was done in it, or never
/// gets one of them.
#[test]
fn slots_of_a_batch_are_had_with_what_was_done() {
    Bound::exhaustive(80)
        .outcomes("a batch comes back as a whole", || {
            let slab = Arc::new(Slab::with_limit(owned, 2));
            let slots = [(); 2].map(|()| slab.allocate().unwrap());
            let crossing = Crossing::new();
            let other = beside_both(&slab, &crossing, move |slab, crossing| {
                assert!(!give_back(&slab, slots), "it has an owner");
                crossing.pass();
            });
            let found = [(); 2].map(|()| {
                crossing.pass();
                slab.allocate().ok()
            });
            for index in found.iter().flatten() {
                assert_eq!(bump(&slab, *index), 1);
            }
            other.join().unwrap();
            let found = found.iter().flatten().count();
            for _ in found..2 {
                assert_eq!(bump(&slab, slab.allocate().unwrap()), 1);
            }
            assert!(slab.allocate().is_err(), "a slot is there twice");
            found
        })
        .assert_exactly([0, 1, 2]);
}

/// Threads: main, one other. Two slots are free. Main allocates: it reads the top and its link, and
/// stalls. The other takes both, and gives them back together, so that the top is the same again
/// but links to another slot. A failure: a slot has two owners.
#[test]
fn a_stalled_allocate_is_not_deceived_by_a_batch() {
    Bound::exhaustive(72)
        .outcomes("no index has two owners", || {
            let slab = Arc::new(Slab::with_limit(owned, 3));
            for _ in 0..3 {
                slab.allocate().unwrap();
            }
            for index in [1, 0] {
                slab.release(index);
            }
            let other = beside(&slab, |slab| {
                let taken = [(); 2].map(|()| slab.allocate().ok());
                if let [Some(top), Some(below)] = taken {
                    give_back(slab, [below, top]);
                    return 2;
                }
                let taken = taken.into_iter().flatten();
                taken.inspect(|&index| _ = bump(slab, index)).count()
            });
            let own = slab.allocate().ok();
            if let Some(index) = own {
                bump(&slab, index);
            }
            let taken = other.join().unwrap();
            // The slots that main got and that the other kept are not free.
            let kept = usize::from(own.is_some()) + usize::from(taken == 1);
            for _ in kept..2 {
                bump(&slab, slab.allocate().unwrap());
            }
            assert!(slab.allocate().is_err(), "a slot is there twice");
            (own, taken)
        })
        .assert_exactly([(Some(0), 1), (Some(0), 2), (Some(1), 1), (None, 2)]);
}

/// Threads: main, one other. Main retires the slab; the other gives back the last two slots
/// together. A failure: both are told that the slab is theirs, or nobody is; or one is told while
/// the other still writes.
#[test]
fn the_last_batch_of_a_retired_slab() {
    Bound::exhaustive(10)
        .outcomes("one is told that it has the slab", || {
            let slab = Arc::new(Slab::new(owned));
            let slots = [(); 2].map(|()| slab.allocate().unwrap());
            let other = beside(&slab, move |slab| told(slab, give_back(slab, slots)));
            let is_last = told(&slab, slab.retire());
            (is_last, other.join().unwrap())
        })
        .assert_exactly([(true, false), (false, true)]);
}
