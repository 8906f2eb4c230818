//! A walk through a table that fills: the handshake between `Handle::cancel_all` and
//! `Handle::submit` of the scheduler, with the real slab and the real occupancies. There is no
//! fence in it: both sides pass through RMWs of the same words.

use filch_models::{Bound, beside};
use filch_slab::{Occupancy, Slab, Stale, Unpinned};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, Ordering};

struct Places {
    slots: Slab<Occupancy>,
    closed: AtomicBool,
}

impl Places {
    /// Makes room in `used` places, each of which was let before.
    fn with_room(used: u32) -> Arc<Self> {
        let slots = Slab::new(|_| Occupancy::new());
        let places: Vec<_> = (0..used).map(|_| slots.allocate().unwrap()).collect();
        for place in places {
            let occupancy = slots.get(place).unwrap();
            occupancy.occupy(1);
            assert_eq!(occupancy.unpin(), Unpinned::Last);
            slots.release(place);
        }
        Arc::new(Self {
            slots,
            closed: AtomicBool::new(false),
        })
    }

    /// Occupies as the submitter does. Returns whether it sees that the table is closed.
    fn occupy(&self) -> bool {
        let place = self.slots.allocate().unwrap();
        self.slots.get(place).unwrap().occupy(1);
        // ORDERING: Acquire, as in `Admission::is_closed`.
        self.closed.load(Ordering::Acquire)
    }

    /// Closes the table and walks it as its closer does. Returns the occupants found.
    fn close_and_walk(&self) -> usize {
        // ORDERING: Release, as in `Admission::close`; without the fence that follows there, for
        // the sake of others.
        self.closed.store(true, Ordering::Release);
        let is_let = |&place: &u32| {
            let occupancy = self.slots.get(place).unwrap();
            match occupancy.pin_current() {
                Ok(_) => {
                    assert_eq!(occupancy.unpin(), Unpinned::Others, "the occupant stays");
                    true
                }
                Err(Stale(unpin)) => {
                    assert_eq!(unpin, Unpinned::Others);
                    false
                }
            }
        };
        (0..self.slots.high_water()).filter(is_let).count()
    }
}

/// Two threads. One occupies a slot that was used before or a new one; main closes the table and
/// walks through it. Either the walk finds the occupant, or the occupant sees that the table is
/// closed (or both). Failure: neither; the scheduler would wait for a process that was never asked
/// to end.
fn nobody_is_overlooked(used: u32, bound: Bound) {
    bound
        .outcomes("a walk meets an occupant", move || {
            let table = Places::with_room(used);
            let occupant = beside(&table, Places::occupy);
            let found = table.close_and_walk();
            let seen = occupant.join().unwrap();
            assert!(found == 1 || seen, "overlooked");
            (found, seen)
        })
        .assert_exactly([(1, false), (1, true), (0, true)]);
}

#[test]
fn a_place_that_was_let_before() {
    nobody_is_overlooked(1, Bound::exhaustive(35));
}

#[test]
fn a_place_that_is_new() {
    nobody_is_overlooked(0, Bound::exhaustive(65));
}
