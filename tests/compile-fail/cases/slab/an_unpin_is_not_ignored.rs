//! The thread that gives the last pin back must clean the slot.

#![deny(unused_must_use)]

use filch_slab::Occupancy;

pub fn case(occupancy: &Occupancy) {
    #[cfg(misuse)]
    occupancy.unpin(); //~ unused_must_use that must be used
    #[cfg(not(misuse))]
    let _ = occupancy.unpin();
}
