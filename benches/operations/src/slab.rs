//! The slab: a slot taken and given back, and a pin on its occupant.

use std::hint::black_box;

use filch_slab::{Occupancy, Slab, Unpinned};

use crate::{Measure, repeat};

/// `allocate` and `release` of a slot that was used before.
pub(crate) fn allocate_release(measure: &mut dyn Measure) {
    let slab: Slab<u64> = Slab::new(u64::from);
    repeat(measure, || {
        let slot = slab.allocate().expect("slots are left");
        slab.release(black_box(slot));
    });
}

/// `pin` and `unpin` of the current occupant.
pub(crate) fn pin_unpin(measure: &mut dyn Measure) {
    let occupancy = Occupancy::new();
    let generation = occupancy.occupy(1);
    repeat(measure, || {
        assert!(occupancy.pin(black_box(generation)).is_ok());
        assert_ne!(black_box(occupancy.unpin()), Unpinned::Last);
    });
}
