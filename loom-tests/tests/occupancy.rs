//! Models of `filch_slab::Occupancy`: a slot with one occupant after another, and visitors who have
//! only a name.
#![cfg(loom)]

use filch_slab::{Occupancy, Stale, Unpinned};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Crossing, Outcomes, check};

/// A slot whose furniture loom watches: reading it without a pin, or cleaning it while somebody
/// reads, is a race.
struct Slot {
    occupancy: Occupancy,
    furniture: UnsafeCell<u32>,
    cleaned: AtomicUsize,
}

// SAFETY: the claim under test: `furniture` is read under a pin and written by the last one out or
// before moving in.
unsafe impl Sync for Slot {}

const EMPTY: u32 = 0;

impl Slot {
    /// A slot with its first occupant, who has furnished it with `furniture`.
    fn let_to(furniture: u32) -> (Arc<Self>, u32) {
        let slot = Self {
            occupancy: Occupancy::new(),
            furniture: UnsafeCell::new(EMPTY),
            cleaned: AtomicUsize::new(0),
        };
        let generation = slot.furnish(furniture);
        (Arc::new(slot), generation)
    }

    fn furnish(&self, furniture: u32) -> u32 {
        // SAFETY: the slot is vacant and ours.
        self.furniture
            .with_mut(|place| unsafe { *place = furniture });
        self.occupancy.occupy(1)
    }

    /// What a visitor who came for `generation` found, if it was let in.
    fn visit(&self, generation: u32) -> Option<u32> {
        match self.occupancy.pin(generation) {
            Ok(()) => {
                // SAFETY: pinned.
                let found = self.furniture.with(|place| unsafe { *place });
                let _ = self.leave();
                Some(found)
            }
            Err(Stale(unpin)) => {
                let _ = self.clean(unpin);
                None
            }
        }
    }

    /// Gives a pin back; whether the slot was cleaned by it.
    fn leave(&self) -> bool {
        self.clean(self.occupancy.unpin())
    }

    fn clean(&self, unpin: Unpinned) -> bool {
        if unpin == Unpinned::Others {
            return false;
        }
        // SAFETY: the last one out.
        self.furniture.with_mut(|place| unsafe { *place = EMPTY });
        // ORDERING: Relaxed: counted after the join.
        self.cleaned.fetch_add(1, Ordering::Relaxed);
        true
    }
}

/// An occupant leaves while a visitor comes. The visitor finds the occupant's furniture or nobody, and
/// the slot is cleaned exactly once, by whoever is last. A failure would be a data race on the
/// furniture, or a slot cleaned twice or never.
#[test]
fn a_visitor_meets_the_tenant_or_nobody() {
    let outcomes = Outcomes::new();
    check(
        "a pinned slot is not cleaned; the last one out cleans it once",
        Bound::exhaustive(10),
        {
            let outcomes = outcomes.clone();
            move || {
                let (slot, generation) = Slot::let_to(7);
                let visitor = thread::spawn({
                    let slot = slot.clone();
                    move || slot.visit(generation)
                });
                let tenant_was_last = slot.leave();
                let found = visitor.join().unwrap();
                assert_eq!(slot.cleaned.load(Ordering::Relaxed), 1);
                outcomes.observe((found, tenant_was_last));
            }
        },
    );
    outcomes.assert_exactly([(Some(7), true), (Some(7), false), (None, true)]);
}

/// Two visitors and a leaving occupant: three could be last, one is.
#[test]
fn one_of_three_is_the_last_one_out() {
    check(
        "exactly one of three cleans",
        Bound::exhaustive(8000),
        || {
            let (slot, generation) = Slot::let_to(7);
            let visitors: Vec<_> = (0..2)
                .map(|_| {
                    let slot = slot.clone();
                    thread::spawn(move || slot.visit(generation))
                })
                .collect();
            let _ = slot.leave();
            for visitor in visitors {
                assert!(matches!(visitor.join().unwrap(), None | Some(7)));
            }
            assert_eq!(slot.cleaned.load(Ordering::Relaxed), 1);
        },
    );
}

/// The slot is let again, at once, by whoever cleans it. A visitor with the old name comes at any
/// moment: it never sees the second occupant's furniture, and never makes the second occupant homeless.
/// This is the race that a stale PID runs against the reuse of its slot.
#[test]
fn an_old_name_never_reaches_the_next_tenant() {
    let outcomes = Outcomes::new();
    check(
        "a stale name is refused, whenever it comes",
        Bound::exhaustive(80),
        {
            let outcomes = outcomes.clone();
            move || {
                let (slot, first) = Slot::let_to(7);
                let visitor = thread::spawn({
                    let slot = slot.clone();
                    move || slot.visit(first)
                });
                let second = if slot.leave() {
                    let second = slot.furnish(8);
                    assert_eq!(slot.visit(second), Some(8));
                    Some(second)
                } else {
                    None
                };
                let found = visitor.join().unwrap();
                assert_ne!(found, Some(8), "the old name reached the new occupant");
                if let Some(second) = second {
                    assert_eq!(
                        slot.visit(second),
                        Some(8),
                        "the new occupant is still at home"
                    );
                    assert_eq!(slot.cleaned.load(Ordering::Relaxed), 1);
                }
                outcomes.observe((found, second.is_some()));
            }
        },
    );
    outcomes.assert_exactly([(Some(7), true), (Some(7), false), (None, true)]);
}

/// The second occupant leaves too, while the stale visitor, refused, has still to give its pin back.
/// Then it is the refused visitor that may be the last one out, with the duty to clean for somebody
/// it never came for. A failure would be a slot that is cleaned once for two occupants, and lost.
#[test]
fn a_refused_visitor_may_be_the_last_one_out() {
    let outcomes = Outcomes::new();
    check(
        "two occupants, two cleanings, whoever does them",
        Bound::exhaustive(80),
        {
            let outcomes = outcomes.clone();
            move || {
                let (slot, first) = Slot::let_to(7);
                let crossing = Crossing::new();
                let visitor = thread::spawn({
                    let (slot, crossing) = (slot.clone(), crossing.clone());
                    move || {
                        crossing.pass();
                        slot.visit(first)
                    }
                });
                crossing.pass();
                if slot.leave() {
                    slot.furnish(8);
                    let tenant_was_last = slot.leave();
                    let found = visitor.join().unwrap();
                    assert_eq!(slot.cleaned.load(Ordering::Relaxed), 2);
                    outcomes.observe((found, tenant_was_last));
                } else {
                    assert_eq!(visitor.join().unwrap(), Some(7));
                    assert_eq!(slot.cleaned.load(Ordering::Relaxed), 1);
                }
            }
        },
    );
    outcomes.assert_exactly([(Some(7), true), (None, true), (None, false)]);
}

/// A visitor comes while an occupant moves in: it finds nobody, or the furniture. It has heard of the
/// occupant by the word alone, so this is the edge from moving in to pinning.
fn whoever_pins_finds_it_settled(claim: &str, pin: fn(&Occupancy) -> Result<(), Stale>) {
    let outcomes = Outcomes::new();
    check(claim, Bound::exhaustive(4), {
        let outcomes = outcomes.clone();
        move || {
            let slot = Arc::new(Slot {
                occupancy: Occupancy::new(),
                furniture: UnsafeCell::new(EMPTY),
                cleaned: AtomicUsize::new(0),
            });
            let visitor = thread::spawn({
                let slot = slot.clone();
                move || match pin(&slot.occupancy) {
                    Ok(()) => {
                        // SAFETY: pinned.
                        let found = slot.furniture.with(|place| unsafe { *place });
                        assert!(!slot.leave(), "the occupant is at home");
                        Some(found)
                    }
                    Err(Stale(unpin)) => {
                        assert_eq!(
                            unpin,
                            Unpinned::Others,
                            "the occupant is at home, or not there yet"
                        );
                        None
                    }
                }
            });
            slot.furnish(7);
            outcomes.observe(visitor.join().unwrap());
        }
    });
    outcomes.assert_exactly([None, Some(7)]);
}

/// It has no name, as a walk through the table has none.
#[test]
fn whoever_pins_the_current_tenant_finds_it_settled() {
    whoever_pins_finds_it_settled("pin_current sees what occupy published", |occupancy| {
        occupancy.pin_current().map(drop)
    });
}

/// It has guessed the name, so that nothing else can have told it of the occupant.
#[test]
fn whoever_pins_by_name_finds_it_settled() {
    whoever_pins_finds_it_settled("pin sees what occupy published", |occupancy| {
        occupancy.pin(0)
    });
}

/// A visitor who has been told the name, and of nothing that came before it, asks whether the
/// occupant lives here. Either not yet, or the furniture is there. (This occupant stays: so much the
/// answer does not promise.)
#[test]
fn whoever_finds_the_tenant_at_home_finds_it_settled() {
    let outcomes = Outcomes::new();
    check(
        "is_current sees what occupy published",
        Bound::exhaustive(2),
        {
            let outcomes = outcomes.clone();
            move || {
                let slot = Arc::new(Slot {
                    occupancy: Occupancy::new(),
                    furniture: UnsafeCell::new(EMPTY),
                    cleaned: AtomicUsize::new(0),
                });
                let visitor = thread::spawn({
                    let slot = slot.clone();
                    move || {
                        slot.occupancy.is_current(0).then(|| {
                            // SAFETY: the occupant stays, and the furniture with it.
                            slot.furniture.with(|place| unsafe { *place })
                        })
                    }
                });
                slot.furnish(7);
                outcomes.observe(visitor.join().unwrap());
            }
        },
    );
    outcomes.assert_exactly([None, Some(7)]);
}

/// The occupant hands pins to helpers (as a process does to the completions of its commands) and
/// leaves at once. The furniture stays until the last helper has let go.
#[test]
fn shared_pins_keep_the_slot() {
    check(
        "a shared pin outlives the occupant's own",
        Bound::exhaustive(4),
        || {
            let (slot, _) = Slot::let_to(7);
            slot.occupancy.share();
            let helper = thread::spawn({
                let slot = slot.clone();
                move || {
                    // SAFETY: under the shared pin.
                    let found = slot.furniture.with(|place| unsafe { *place });
                    (found, slot.leave())
                }
            });
            let tenant_was_last = slot.leave();
            let (found, helper_was_last) = helper.join().unwrap();
            assert_eq!(found, 7);
            assert_ne!(tenant_was_last, helper_was_last);
        },
    );
}
