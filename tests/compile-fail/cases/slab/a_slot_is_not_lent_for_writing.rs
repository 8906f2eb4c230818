//! The owner of an index does not own the slot alone: other threads may read it.

use filch_slab::Slab;

pub fn case(slab: &Slab<u32>) -> Option<u32> {
    #[cfg(misuse)]
    let _: Option<&mut u32> = slab.get(0); //~ E0308 mismatched types
    slab.get(0).copied()
}
