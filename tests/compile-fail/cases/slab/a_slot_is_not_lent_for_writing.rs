//! Owning an index is not owning the slot: others may look at it.

use filch_slab::Slab;

pub fn case(slab: &Slab<u32>) -> Option<u32> {
    #[cfg(misuse)]
    let _: Option<&mut u32> = slab.get(0); //~ E0308 mismatched types
    slab.get(0).copied()
}
