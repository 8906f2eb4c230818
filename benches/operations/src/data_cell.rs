//! Sets of three data cells that nobody else wants.

use std::hint::black_box;
use std::sync::Arc;

use filch_data_cell::{Access, DataCell, LockSet, Mask};

use crate::{Measure, repeat};

/// Three are locked for writing, and unlocked.
pub(crate) fn write(measure: &mut dyn Measure) {
    lock_and_unlock(measure, Access::Write);
}

/// Three are locked for reading, and unlocked.
pub(crate) fn read(measure: &mut dyn Measure) {
    lock_and_unlock(measure, Access::Read);
}

fn lock_and_unlock(measure: &mut dyn Measure, access: Access) {
    let cells = [0_u64; 3].map(|value| (Arc::new(DataCell::new(value)) as _, access));
    let set = LockSet::new(cells).expect("three cells");
    repeat(measure, || {
        drop(black_box(set.try_lock(black_box(Mask::NONE))).expect("free"));
    });
}
