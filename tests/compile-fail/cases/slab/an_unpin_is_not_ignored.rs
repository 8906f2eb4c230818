//! The last one out must clean the slot.

#![deny(unused_must_use)]

use filch_slab::Tenancy;

pub fn case(tenancy: &Tenancy) {
    #[cfg(misuse)]
    tenancy.unpin(); //~ unused_must_use that must be used
    #[cfg(not(misuse))]
    let _ = tenancy.unpin();
}
