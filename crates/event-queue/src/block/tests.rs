//! The sizes of blocks.

use super::{Block, GROUP};
use crate::position::MAX_SLOTS;

/// An allocator of powers of two keeps a word of each for itself.
#[test]
fn a_block_leaves_its_allocator_a_word_and_nothing_else() {
    fn check<T>(bytes: usize, at_least: usize) {
        let slots = Block::<T>::slots_in(bytes, at_least).min(MAX_SLOTS);
        let size = |slots| Block::<T>::layout(slots).size();
        assert!(size(slots) <= bytes, "{bytes}: {slots} slots");
        let is_full = slots == MAX_SLOTS || size(slots + GROUP) > bytes;
        assert!(is_full, "{bytes}: {slots} slots");
    }
    for (bytes, at_least) in [(2040, 7), (4088, 31), (16_376, 31)] {
        check::<()>(bytes, at_least);
        check::<u8>(bytes, at_least);
        check::<u32>(bytes, at_least);
        check::<[u64; 4]>(bytes, at_least);
        check::<[u8; 65]>(bytes, at_least);
        check::<u128>(bytes, at_least);
    }
    check::<[u64; 32]>(2040, 7);
    check::<[u8; 243]>(16_376, 31);
}
