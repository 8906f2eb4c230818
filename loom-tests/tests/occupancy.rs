//! Models of `filch_slab::Occupancy`: a slot with one occupant after another, and visitors that
//! only have a generation.

use filch_models::{Bound, Crossing, beside, beside_both};
use filch_slab::{Occupancy, Stale, Unpinned};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;
use filch_sync::thread::JoinHandle;

/// A slot whose contents loom watches: reading them without a pin, or cleaning them while a visitor
/// reads, is a race.
struct Slot {
    occupancy: Occupancy,
    contents: UnsafeCell<u32>,
    cleaned: AtomicUsize,
}

// SAFETY: the claim under test: `contents` are read under a pin, and written by the last thread to
// unpin or before `occupy`.
unsafe impl Sync for Slot {}

const EMPTY: u32 = 0;

impl Slot {
    fn vacant() -> Arc<Self> {
        Arc::new(Self {
            occupancy: Occupancy::new(),
            contents: UnsafeCell::new(EMPTY),
            cleaned: AtomicUsize::new(0),
        })
    }

    /// Makes a slot with its first occupant; also returns that occupant's generation.
    fn occupied(contents: u32) -> (Arc<Self>, u32) {
        let slot = Self::vacant();
        let generation = slot.occupy(contents);
        (slot, generation)
    }

    fn occupy(&self, contents: u32) -> u32 {
        // SAFETY: the slot is vacant and ours.
        self.contents.with_mut(|place| unsafe { *place = contents });
        self.occupancy.occupy(1)
    }

    fn read(&self) -> u32 {
        // SAFETY: the claim under test: the caller holds a pin, or the occupant stays.
        self.contents.with(|place| unsafe { *place })
    }

    /// Returns what a visitor found that came for `generation`, if that is the current one.
    fn visit(&self, generation: u32) -> Option<u32> {
        match self.occupancy.pin(generation) {
            Ok(()) => {
                let found = self.read();
                let _ = self.leave();
                Some(found)
            }
            Err(Stale(unpinned)) => {
                let _ = self.clean(unpinned);
                None
            }
        }
    }

    /// Gives a pin back. Returns whether it was the last, so that the slot was cleaned.
    fn leave(&self) -> bool {
        self.clean(self.occupancy.unpin())
    }

    fn clean(&self, unpinned: Unpinned) -> bool {
        if unpinned == Unpinned::Others {
            return false;
        }
        // SAFETY: the last thread to unpin has the slot to itself.
        self.contents.with_mut(|place| unsafe { *place = EMPTY });
        // ORDERING: Relaxed: counted after the join.
        self.cleaned.fetch_add(1, Ordering::Relaxed);
        true
    }
}

/// Starts a thread that visits once.
fn visitor(slot: &Arc<Slot>, generation: u32) -> JoinHandle<Option<u32>> {
    beside(slot, move |slot| slot.visit(generation))
}

/// An occupant leaves while a visitor comes. The visitor finds the occupant's contents, or is
/// refused; the thread that gives the last pin back cleans the slot, exactly once. A failure: a
/// data race on the contents, or a slot cleaned twice or never.
#[test]
fn a_visitor_finds_the_occupant_or_nothing() {
    Bound::exhaustive(10)
        .outcomes(
            "a pinned slot is not cleaned; the last pin cleans it once",
            || {
                let (slot, generation) = Slot::occupied(7);
                let visitor = visitor(&slot, generation);
                let occupant_was_last = slot.leave();
                let found = visitor.join().unwrap();
                assert_eq!(slot.cleaned.load(Ordering::Relaxed), 1);
                (found, occupant_was_last)
            },
        )
        .assert_exactly([(Some(7), true), (Some(7), false), (None, true)]);
}

/// Two visitors and an occupant that leaves: each of the three may be the last, and one is.
#[test]
fn one_of_three_is_the_last() {
    Bound::exhaustive(190_000).check("exactly one of three cleans", || {
        let (slot, generation) = Slot::occupied(7);
        let visitors = [0; 2].map(|_| visitor(&slot, generation));
        let _ = slot.leave();
        for visitor in visitors {
            assert!(matches!(visitor.join().unwrap(), None | Some(7)));
        }
        assert_eq!(slot.cleaned.load(Ordering::Relaxed), 1);
    });
}

/// If main cleans the slot, it occupies it again at once. A visitor with the old generation comes
/// at any moment: it never sees the second occupant's contents, and never ends the second
/// occupancy. A stale PID runs this race against the reuse of its slot.
#[test]
fn an_old_generation_never_reaches_the_next_occupant() {
    Bound::exhaustive(80)
        .outcomes("a stale generation is refused, whenever it comes", || {
            let (slot, first) = Slot::occupied(7);
            let visitor = visitor(&slot, first);
            let second = if slot.leave() {
                let second = slot.occupy(8);
                assert_eq!(slot.visit(second), Some(8));
                Some(second)
            } else {
                None
            };
            let found = visitor.join().unwrap();
            assert_ne!(
                found,
                Some(8),
                "the old generation reached the new occupant"
            );
            if let Some(second) = second {
                assert_eq!(
                    slot.visit(second),
                    Some(8),
                    "the new occupant is still there"
                );
                assert_eq!(slot.cleaned.load(Ordering::Relaxed), 1);
            }
            (found, second.is_some())
        })
        .assert_exactly([(Some(7), true), (Some(7), false), (None, true)]);
}

/// The second occupant leaves too, while the refused visitor has not yet given its pin back. That
/// pin may be the last: then the visitor cleans the slot of an occupant that it did not come for. A
/// failure: a slot cleaned once for two occupants, and lost.
#[test]
fn a_refused_visitor_may_be_the_last() {
    Bound::exhaustive(80)
        .outcomes("two occupants, two cleanings", || {
            let (slot, first) = Slot::occupied(7);
            let crossing = Crossing::new();
            let visitor = beside_both(&slot, &crossing, move |slot, crossing| {
                crossing.pass();
                slot.visit(first)
            });
            crossing.pass();
            if !slot.leave() {
                assert_eq!(visitor.join().unwrap(), Some(7));
                assert_eq!(slot.cleaned.load(Ordering::Relaxed), 1);
                return None;
            }
            slot.occupy(8);
            let occupant_was_last = slot.leave();
            let found = visitor.join().unwrap();
            assert_eq!(slot.cleaned.load(Ordering::Relaxed), 2);
            Some((found, occupant_was_last))
        })
        .assert_exactly([
            // The visitor was the last for the first occupant, and there was no second.
            None,
            Some((Some(7), true)),
            Some((None, true)),
            Some((None, false)),
        ]);
}

/// A visitor and an occupant come together: the visitor is refused, or finds the contents. Only
/// `look` tells it of the occupant, so this checks the edge from `occupy` to the method in `look`.
fn a_look_beside_occupy(claim: &str, at_least: u64, look: fn(&Slot) -> Option<u32>) {
    Bound::exhaustive(at_least)
        .outcomes(claim, move || {
            let slot = Slot::vacant();
            let visitor = beside(&slot, look);
            slot.occupy(7);
            visitor.join().unwrap()
        })
        .assert_exactly([None, Some(7)]);
}

/// Returns what a visitor finds by a pin. It is never the last: the occupant stays, or is to come.
fn found_by(slot: &Slot, pinned: Result<(), Stale>) -> Option<u32> {
    match pinned {
        Ok(()) => {
            let found = slot.read();
            assert!(!slot.leave(), "the occupant is there");
            Some(found)
        }
        Err(Stale(unpinned)) => {
            assert_eq!(
                unpinned,
                Unpinned::Others,
                "the occupant is there, or not yet"
            );
            None
        }
    }
}

/// The visitor has no generation, like a walk through the table.
#[test]
fn a_pin_of_the_current_occupant_sees_its_contents() {
    a_look_beside_occupy("pin_current sees what occupy published", 4, |slot| {
        found_by(slot, slot.occupancy.pin_current().map(drop))
    });
}

/// The visitor has guessed the generation, so nothing else can have told it of the occupant.
#[test]
fn a_pin_by_generation_sees_the_contents() {
    a_look_beside_occupy("pin sees what occupy published", 4, |slot| {
        found_by(slot, slot.occupancy.pin(0))
    });
}

/// The visitor has guessed the generation, and asks if it is current. If so, the contents are
/// there. They stay only because this occupant does: the answer does not promise it.
#[test]
fn a_generation_that_is_current_has_its_contents() {
    a_look_beside_occupy("is_current sees what occupy published", 2, |slot| {
        slot.occupancy.is_current(0).then(|| slot.read())
    });
}

/// The occupant shares a pin with a helper (as a process does with the completions of its commands)
/// and leaves at once. The contents stay until the helper has given its pin back.
#[test]
fn shared_pins_keep_the_slot() {
    Bound::exhaustive(4).check("a shared pin outlives the occupant's own", || {
        let (slot, _) = Slot::occupied(7);
        slot.occupancy.share();
        let helper = beside(&slot, |slot| (slot.read(), slot.leave()));
        let occupant_was_last = slot.leave();
        let (found, helper_was_last) = helper.join().unwrap();
        assert_eq!(found, 7);
        assert_ne!(occupant_was_last, helper_was_last);
    });
}

/// Threads: main gives the occupant's pin back; one other visits twice, by generation. Main may
/// find the other's pin, give its own back after that one has gone, and then lose against the
/// other's second visit: the slot is live and unpinned for a moment. A failure: main takes itself
/// for the last one all the same, so that both are told, and the slot is released twice.
#[test]
fn a_visitor_that_comes_back_is_the_last_alone() {
    Bound::exhaustive(50)
        .outcomes("one is told", || {
            let slot = Arc::new(Occupancy::new());
            let generation = slot.occupy(1);
            let crossing = Crossing::new();
            let visitor = beside_both(&slot, &crossing, move |slot, crossing| {
                let visit = |()| {
                    crossing.pass();
                    match slot.pin(generation) {
                        Ok(()) => slot.unpin(),
                        Err(Stale(left)) => left,
                    }
                };
                [(); 2].map(visit).map(|left| left == Unpinned::Last)
            });
            crossing.pass();
            let own = slot.unpin() == Unpinned::Last;
            let [first, second] = visitor.join().unwrap();
            let told = [own, first, second].iter().filter(|told| **told).count();
            assert_eq!(told, 1, "{told} are told that they are the last");
            (own, first, second)
        })
        .assert_exactly([
            (true, false, false),
            (false, true, false),
            (false, false, true),
        ]);
}
