//! Promises to a user, with real threads and without.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};

use filch_slab::{AllocateError, Batch, Slab};
use proptest::prelude::*;

#[test]
fn a_new_slab_has_no_slots() {
    let slab = Slab::new(|index| index);
    assert_eq!(slab.high_water(), 0);
    assert_eq!(slab.get(0), None);
    assert_eq!(slab.get(u32::MAX), None);
}

#[test]
fn values_never_move() {
    let slab = Slab::new(|index| index);
    let first = slab.allocate().unwrap();
    let address = std::ptr::from_ref(slab.get(first).unwrap());
    for _ in 0..1000 {
        slab.allocate().unwrap();
    }
    assert_eq!(std::ptr::from_ref(slab.get(first).unwrap()), address);
    for index in 0..1001 {
        assert_eq!(slab.get(index), Some(&index));
    }
}

#[test]
fn a_reserved_slot_is_there_and_nobodys() {
    let slab = Slab::with_limit(u64::from, 2);
    assert_eq!(slab.get(0), None);
    assert_eq!(slab.reserve(), Ok(()));
    assert_eq!((slab.get(0), slab.high_water()), (Some(&0), 0));
    assert_eq!((slab.allocate(), slab.allocate()), (Ok(0), Ok(1)));
    assert_eq!(slab.reserve(), Err(AllocateError::Full));
    slab.release(0);
    assert_eq!(slab.reserve(), Ok(()));
    assert_eq!(slab.allocate(), Ok(0));
}

#[test]
fn the_limit_is_exact() {
    let slab = Slab::with_limit(|index| index, 5);
    let all: BTreeSet<_> = (0..5).map(|_| slab.allocate().unwrap()).collect();
    assert_eq!(all, (0..5).collect());
    assert_eq!(slab.allocate(), Err(AllocateError::Full));
    assert_eq!(slab.high_water(), 5);
    slab.release(3);
    assert_eq!(slab.allocate(), Ok(3));
    let none = Slab::with_limit(|_| (), 0);
    assert_eq!(none.allocate(), Err(AllocateError::Full));
    assert_eq!(none.get(0), None);
}

#[test]
#[should_panic(expected = "a released index was allocated")]
fn releasing_an_index_without_a_slot_panics() {
    Slab::new(|index| index).release(0);
}

#[test]
fn a_panic_in_make_leaves_the_slab_as_it_was() {
    static REFUSE: AtomicU32 = AtomicU32::new(2);
    let slab = Slab::new(|index| {
        assert_ne!(index, REFUSE.load(Ordering::Relaxed), "refused");
        Box::new(index)
    });
    assert_eq!(slab.allocate(), Ok(0));
    catch_unwind(AssertUnwindSafe(|| slab.allocate())).unwrap_err();
    assert_eq!((slab.high_water(), slab.get(1)), (1, None));
    REFUSE.store(u32::MAX, Ordering::Relaxed);
    assert_eq!(slab.allocate(), Ok(1));
}

/// Counts its drops by slot.
struct Counted<'a>(&'a [AtomicU32], u32);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0[self.1 as usize].fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn every_value_is_dropped_once_and_with_the_slab() {
    static DROPS: [AtomicU32; 7] = [const { AtomicU32::new(0) }; 7];
    // A page is made as a whole: two slots of the last one are beyond the limit.
    let slab = Slab::with_limit(|index| Counted(&DROPS, index), 5);
    for _ in 0..4 {
        slab.allocate().unwrap();
    }
    slab.release(2);
    assert!(DROPS.iter().all(|drops| drops.load(Ordering::Relaxed) == 0));
    drop(slab);
    assert!(DROPS.iter().all(|drops| drops.load(Ordering::Relaxed) == 1));
}

proptest! {
    /// Against a model set: an index that is handed out is not out already; it is the one released
    /// last if any is free; the slab is full exactly when all are out; and the high-water mark is
    /// the most that were ever out.
    #[test]
    fn behaves_like_a_set_of_indices(
        limit in 0_u32..40,
        script in prop::collection::vec(any::<(bool, prop::sample::Index)>(), 0..200),
    ) {
        let slab = Slab::with_limit(|index| index, limit);
        let (mut out, mut free, mut most) = (Vec::new(), Vec::new(), 0);
        for (allocate, choice) in script {
            if allocate || out.is_empty() {
                match slab.allocate() {
                    Ok(index) => {
                        prop_assert!(!out.contains(&index));
                        prop_assert_eq!(free.pop().unwrap_or(most), index);
                        out.push(index);
                        most = most.max(u32::try_from(out.len()).unwrap());
                    }
                    Err(error) => {
                        prop_assert_eq!(error, AllocateError::Full);
                        prop_assert_eq!(out.len(), limit as usize);
                    }
                }
            } else {
                let index = out.swap_remove(choice.index(out.len()));
                slab.release(index);
                free.push(index);
            }
            prop_assert_eq!(slab.high_water(), most);
        }
    }
}

/// Four threads allocate and release; each slot has one owner at a time, and at the end each is
/// free once.
#[test]
fn an_index_has_one_owner_at_a_time() {
    const THREADS: u32 = 4;
    const ROUNDS: u32 = if cfg!(miri) { 100 } else { 50_000 };
    const HELD: usize = 5;
    // A slot holds its owner's number, 0 while it has none.
    let slab = Slab::with_limit(|_| AtomicU32::new(0), THREADS * HELD as u32);
    let start = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for me in 1..=THREADS {
            let (slab, start) = (&slab, &start);
            scope.spawn(move || {
                start.wait();
                let mut held = Vec::with_capacity(HELD);
                for round in 0..ROUNDS {
                    if held.len() < HELD && (round % 7 != 0 || held.is_empty()) {
                        let index = slab
                            .allocate()
                            .expect("each thread holds its share at most");
                        let before = slab.get(index).unwrap().swap(me, Ordering::Relaxed);
                        assert_eq!(before, 0, "slot {index} has an owner already");
                        held.push(index);
                    } else {
                        let index = held.swap_remove(round as usize % held.len());
                        let before = slab.get(index).unwrap().swap(0, Ordering::Relaxed);
                        assert_eq!(before, me, "slot {index} was taken from its owner");
                        slab.release(index);
                    }
                }
                for index in held {
                    slab.get(index).unwrap().store(0, Ordering::Relaxed);
                    slab.release(index);
                }
            });
        }
    });
    let made = slab.high_water();
    let free: BTreeSet<_> = (0..THREADS * HELD as u32)
        .map(|_| slab.allocate().unwrap())
        .collect();
    assert_eq!(free.len(), (THREADS * HELD as u32) as usize);
    assert!(made <= THREADS * HELD as u32);
    assert_eq!(slab.allocate(), Err(AllocateError::Full));
}

#[test]
fn a_retired_slab_is_the_one_s_that_releases_the_last_slot() {
    let slab = Slab::new(|index| index);
    let slots = [(); 3].map(|()| slab.allocate().unwrap());
    assert!(!slab.release(slots[1]), "it has an owner");
    assert!(!slab.retire(), "two are out");
    assert!(!slab.release(slots[2]));
    assert!(slab.release(slots[0]));
}

#[test]
fn a_retired_slab_without_slots_stays_its_owner_s() {
    let slab = Slab::new(|index| index);
    let index = slab.allocate().unwrap();
    slab.release(index);
    assert!(slab.retire());
    assert!(Slab::new(|index: u32| index).retire(), "never used");
}

#[test]
fn a_batch_comes_back_when_it_is_full_or_asked_for() {
    let slab = Slab::with_limit(|index| index, Batch::SIZE + 1);
    let mut batch = Batch::default();
    let slots: Vec<_> = (0..Batch::SIZE).map(|_| slab.allocate().unwrap()).collect();
    let (&last, others) = slots.split_last().unwrap();
    for &index in others {
        assert!(!slab.release_into(&mut batch, index));
    }
    assert_eq!(slab.allocate(), Ok(Batch::SIZE), "the others are kept back");
    assert_eq!(slab.allocate(), Err(AllocateError::Full));
    assert!(!slab.release_into(&mut batch, last));
    let back: Vec<_> = (0..Batch::SIZE).map(|_| slab.allocate().unwrap()).collect();
    assert!(back.iter().eq(slots.iter().rev()), "the last one first");
    assert_eq!(slab.allocate(), Err(AllocateError::Full));

    assert!(!slab.release_into(&mut batch, 7));
    assert!(!slab.give_back(&mut batch));
    assert!(!slab.give_back(&mut batch), "it is empty");
    assert_eq!(slab.allocate(), Ok(7));
    assert_eq!(slab.allocate(), Err(AllocateError::Full));
}

#[test]
fn a_batch_may_be_the_last_of_a_retired_slab() {
    let slab = Slab::new(|index| index);
    let slots = [(); 3].map(|()| slab.allocate().unwrap());
    let mut batch = Batch::default();
    assert!(!slab.release_into(&mut batch, slots[0]));
    assert!(!slab.retire(), "three are out");
    assert!(!slab.release_into(&mut batch, slots[1]));
    assert!(!slab.release(slots[2]), "two are kept back");
    assert!(slab.give_back(&mut batch));
}
