//! Models of the slab: an index has one owner, who sees what the last owner did.

use std::mem::MaybeUninit;

use filch_models::{Bound, Crossing, beside, beside_both};
use filch_slab::Slab;
use filch_sync::atomic::{AtomicU32, Ordering};
use filch_sync::{Arc, thread};

use crate::owned::{bump, owned};

/// Threads: main, one other. Both take the first slot of an empty slab, so both construct its page,
/// and both want index 0. One page must be installed, the other freed; the indices must be 0 and 1.
/// A failure: an index twice, a write to a freed page, or a page that leaks (each value has a loom
/// `Arc` in it, which loom counts).
#[test]
fn two_threads_install_the_first_page() {
    Bound::exhaustive(50)
        .outcomes("one page is installed, indices are distinct", || {
            let slab = Arc::new(Slab::new(|index| (Arc::new(()), AtomicU32::new(index))));
            let other = beside(&slab, |slab| {
                let index = slab.allocate().unwrap();
                // ORDERING: Relaxed: the page edge alone must show the constructed value.
                assert_eq!(slab.get(index).unwrap().1.load(Ordering::Relaxed), index);
                index
            });
            let own = slab.allocate().unwrap();
            // ORDERING: Relaxed: as above.
            assert_eq!(slab.get(own).unwrap().1.load(Ordering::Relaxed), own);
            (own, other.join().unwrap())
        })
        .assert_exactly([(0, 1), (1, 0)]);
}

/// A value that fills a page, so that each slot from the second on has a page of its own, behind a
/// directory.
struct Large {
    index: AtomicU32,
    _counted: Arc<()>,
    _room: MaybeUninit<[u8; 1 << 16]>,
}

fn slab_of_large() -> Arc<Slab<Large>> {
    let slab = Slab::in_place(
        |index, place: &mut MaybeUninit<Large>| {
            let large = place.as_mut_ptr();
            // SAFETY: two fields of what is lent; the third needs no value.
            unsafe {
                (&raw mut (*large).index).write(AtomicU32::new(index));
                (&raw mut (*large)._counted).write(Arc::new(()));
                place.assume_init_mut()
            }
        },
        u32::MAX,
    );
    Arc::new(slab)
}

/// Takes a slot, and checks that its value is seen as it was constructed.
fn take(slab: &Slab<Large>) -> u32 {
    let index = slab.allocate().unwrap();
    // ORDERING: Relaxed: the edges of the directory and the page alone must show the value.
    let value = slab.get(index).unwrap().index.load(Ordering::Relaxed);
    assert_eq!(value, index);
    index
}

/// Threads: main, one other. Slot 0 is taken. Slots 1 and 2 have a page each, in one directory, and
/// both threads want slot 1: both bring a directory, both bring its first page, and one of them
/// then brings the second page. A failure: a page in a freed directory, an index twice, or a page
/// that leaks.
#[test]
fn two_threads_install_a_directory() {
    Bound::preemptions(4, 560)
        .outcomes("one directory is installed, and each page once", || {
            let slab = slab_of_large();
            assert_eq!(take(&slab), 0);
            let other = beside(&slab, take);
            let own = take(&slab);
            (own, other.join().unwrap())
        })
        .assert_exactly([(1, 2), (2, 1)]);
}

/// Threads: main, one other, which takes slots 1 and 2. Main looks for the values of both, without
/// having heard of them: of a slot that it finds it sees the constructed value. A failure: a
/// directory or a page that is found before its contents are there.
#[test]
fn what_is_found_behind_a_directory_is_constructed() {
    Bound::exhaustive(340)
        .outcomes(
            "a directory is found with its pages, and a page with its slots",
            || {
                let slab = slab_of_large();
                assert_eq!(take(&slab), 0);
                let crossing = Crossing::new();
                let other = beside_both(&slab, &crossing, move |slab, crossing| {
                    [(); 2].map(|()| {
                        crossing.pass();
                        take(&slab)
                    })
                });
                let found = [1, 2].map(|index| {
                    crossing.pass();
                    // ORDERING: Relaxed: as in `take`.
                    let value = slab
                        .get(index)
                        .map(|value| value.index.load(Ordering::Relaxed));
                    assert!(value.is_none_or(|value| value == index), "not constructed");
                    value.is_some()
                });
                assert_eq!(other.join().unwrap(), [1, 2]);
                found
            },
        )
        .assert_exactly([[false, false], [true, false], [false, true], [true, true]]);
}

/// Threads: main, one other. Slots 0 and 1 are free, 0 on top. One thread allocates: it reads top 0
/// and its link 1, and stalls. The other allocates 0 and 1, and gives 0 back. Top is 0 again, but 1
/// is taken. The first thread's exchange must fail; it then gets 0, and the next `allocate` must
/// not give out 1. A failure: index 1 has two owners (a causality violation of its cell), or the
/// list is wrong at the end.
#[test]
fn a_stalled_allocate_is_not_deceived_by_the_same_top() {
    Bound::exhaustive(500)
        .outcomes("no index has two owners (ABA)", || {
            let slab = Arc::new(Slab::with_limit(owned, 3));
            for _ in 0..3 {
                slab.allocate().unwrap();
            }
            for index in [2, 1, 0] {
                slab.release(index);
            }
            let crossing = Crossing::new();
            let stalled = beside_both(&slab, &crossing, move |slab, crossing| {
                crossing.pass();
                let index = slab.allocate().unwrap();
                bump(&slab, index);
                index
            });
            let first = slab.allocate().unwrap();
            crossing.pass();
            let second = slab.allocate().unwrap();
            bump(&slab, first);
            bump(&slab, second);
            slab.release(first);
            crossing.pass();
            let third = slab.allocate().ok();
            if let Some(third) = third {
                bump(&slab, third);
                assert_ne!(third, second, "an index with two owners");
            }
            let other = stalled.join().unwrap();
            assert_ne!(other, second, "an index with two owners");
            assert_ne!(third, Some(other), "an index with two owners");
            (first, second, third, other)
        })
        .assert_reached([
            // The other came before, during (then it may have got the released index), and after.
            (1, 2, Some(1), 0),
            (0, 2, Some(0), 1),
            (0, 1, Some(2), 0),
            (0, 1, Some(0), 2),
        ]);
}

/// Threads: main, two others. Two allocate while one releases; there are slots for all. Every index
/// must have one owner, who sees what the last owner wrote. A failure: a causality violation of a
/// cell, or a lost increment.
#[test]
fn two_allocate_while_one_releases() {
    Bound::preemptions(3, 20_000).check("release happens before allocate", || {
        let slab = Arc::new(Slab::with_limit(owned, 4));
        let mine = [slab.allocate().unwrap(), slab.allocate().unwrap()];
        let others: Vec<_> = (0..2)
            .map(|_| {
                let slab = slab.clone();
                thread::spawn(move || {
                    let index = slab.allocate().unwrap();
                    bump(&slab, index);
                    slab.release(index);
                })
            })
            .collect();
        for index in mine {
            bump(&slab, index);
            slab.release(index);
        }
        for other in others {
            other.join().unwrap();
        }
        // All slots are free, each index once, and no increment was lost.
        let mut all: Vec<_> = (0..slab.high_water())
            .map(|_| slab.allocate().unwrap())
            .collect();
        let bumps: u32 = all.iter().map(|&index| bump(&slab, index)).sum();
        assert_eq!(bumps, 4);
        all.sort_unstable();
        assert_eq!(all, (0..slab.high_water()).collect::<Vec<_>>());
    });
}

/// Threads: main, one other, on a slab of one slot. Main owns it, writes, and gives it back while
/// the other tries to get it. The other must fail, or see what main wrote. A failure: a causality
/// violation, or a value other than 1.
#[test]
fn the_next_owner_sees_what_the_last_one_did() {
    Bound::exhaustive(10)
        .outcomes("release happens before allocate, or it is full", || {
            let slab = Arc::new(Slab::with_limit(owned, 1));
            let index = slab.allocate().unwrap();
            let other = beside(&slab, |slab| {
                slab.allocate().ok().map(|index| bump(slab, index))
            });
            bump(&slab, index);
            slab.release(index);
            other.join().unwrap()
        })
        .assert_exactly([Some(1), None]);
}

/// Threads: main, one other, on a slab of two slots. The other frees one slot while main takes the
/// last new one and then asks for another. From some moment on, the freed slot is free; "full" may
/// only be answered for a moment before it. A failure: main's second request fails although the
/// release was before it (main heard of it through the flag).
#[test]
fn full_is_never_said_of_a_slab_with_a_free_slot() {
    Bound::exhaustive(200)
        .outcomes("Full is exact", || {
            let slab = Arc::new(Slab::with_limit(owned, 2));
            let released = Arc::new(AtomicU32::new(0));
            let crossing = Crossing::new();
            let index = slab.allocate().unwrap();
            let other = thread::spawn({
                let (slab, released) = (slab.clone(), released.clone());
                let crossing = crossing.clone();
                move || {
                    crossing.pass();
                    slab.release(index);
                    // ORDERING: Release: pairs with the load below; the history says "released".
                    released.store(1, Ordering::Release);
                }
            });
            crossing.pass();
            let first = slab.allocate().ok();
            crossing.pass();
            // ORDERING: Acquire: pairs with the store above.
            let heard = released.load(Ordering::Acquire) == 1;
            let second = slab.allocate().ok();
            assert!(first.is_some(), "one slot was new all along");
            assert!(!heard || second.is_some(), "full, with a slot free");
            other.join().unwrap();
            (first, second)
        })
        .assert_exactly([(Some(1), None), (Some(1), Some(0)), (Some(0), Some(1))]);
}

/// Threads: main, one other, which grows the slab onto its second page, behind a directory. Main
/// asks for the high-water mark and then for every value below it. A failure: a mark ahead of the
/// pages, so that `get` finds nothing.
#[test]
fn every_index_below_the_high_water_mark_has_a_value() {
    Bound::exhaustive(20)
        .outcomes("high_water is behind the pages", || {
            let slab = slab_of_large();
            let crossing = Crossing::new();
            let other = beside_both(&slab, &crossing, move |slab, crossing| {
                for _ in 0..2 {
                    crossing.pass();
                    slab.allocate().unwrap();
                }
            });
            crossing.pass();
            let mark = slab.high_water();
            for index in 0..mark {
                // ORDERING: Relaxed: the edges of the mark and the page must show the constructed
                // value.
                let value = slab
                    .get(index)
                    .map(|value| value.index.load(Ordering::Relaxed));
                assert_eq!(value, Some(index), "no value below the mark");
            }
            other.join().unwrap();
            mark
        })
        .assert_exactly([0, 1, 2]);
}

/// Threads: main and one other allocate, a third releases, on a slab of two slots of which one is
/// new. The third then reads the high-water mark: if the last new slot was not taken yet, one was
/// free all the time, and nobody may be told that the slab is full. The race: two find the free
/// list empty, one slot comes back, and one of the two takes the new slot before the other. A
/// failure: the other does not look at the free list again, and answers "full".
#[test]
fn full_is_never_said_while_a_slot_comes_back() {
    Bound::preemptions(3, 100)
        .outcomes("Full is exact beside a release", || {
            let slab = Arc::new(Slab::with_limit(owned, 2));
            let index = slab.allocate().unwrap();
            let crossing = Crossing::new();
            let others = [0, 1].map(|number| {
                let (slab, crossing) = (slab.clone(), crossing.clone());
                thread::spawn(move || {
                    crossing.pass();
                    if number == 0 {
                        slab.release(index);
                        return slab.high_water() == 1;
                    }
                    slab.allocate().is_ok()
                })
            });
            crossing.pass();
            let own = slab.allocate().is_ok();
            let [never_full, other] = others.map(|thread| thread.join().unwrap());
            assert!(!never_full || own && other, "full, with a slot free");
            (never_full, own, other)
        })
        .assert_exactly([
            (true, true, true),
            (false, true, true),
            (false, true, false),
            (false, false, true),
        ]);
}
