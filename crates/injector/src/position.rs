//! The packed words: the position of an end of the queue, and the successor of a block.

/// Bits of a position's slot index.
const INDEX_BITS: u32 = 7;
/// Bits of a position's block number.
const BLOCK_BITS: u32 = 25;

/// The most slots that a block can have: an index may equal it.
pub(crate) const MAX_SLOTS: usize = (1 << INDEX_BITS) - 1;
/// Block numbers are below this.
pub(crate) const MAX_BLOCKS: u32 = 1 << BLOCK_BITS;

/// A position in the queue: the value of `head` and of `tail`.
///
/// ```text
/// 63            32 31         7 6      0
/// [   sequence    |   block    | index  ]
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The ordinal of the block in the queue, from 0, modulo 2³².
    pub(crate) sequence: u32,
    /// The number, in the slab, of the block that serves as this one.
    pub(crate) block: u32,
    /// The next slot to claim; the number of slots when all are claimed.
    pub(crate) index: u32,
}

impl Position {
    pub(crate) const fn pack(self) -> u64 {
        debug_assert!(self.block < MAX_BLOCKS && self.index as usize <= MAX_SLOTS);
        (self.sequence as u64) << 32 | (self.block as u64) << INDEX_BITS | self.index as u64
    }

    pub(crate) const fn unpack(word: u64) -> Self {
        let low = word as u32;
        Self {
            sequence: (word >> 32) as u32,
            block: low >> INDEX_BITS,
            index: low & ((1 << INDEX_BITS) - 1),
        }
    }

    /// Returns the same block at `index`.
    pub(crate) const fn at(self, index: u32) -> Self {
        Self { index, ..self }
    }

    /// Returns position `index` of the next block of the queue, which is `block`.
    pub(crate) const fn following(self, block: u32, index: u32) -> Self {
        Self {
            sequence: self.sequence.wrapping_add(1),
            block,
            index,
        }
    }
}

/// The value of a block's `next`: the sequence of this block in the queue, and the number of the
/// block after it.
///
/// ```text
/// 63            32 31              0
/// [   sequence    |  block or NONE  ]
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The sequence of the block that the link is in.
    pub(crate) sequence: u32,
    /// The block after it.
    pub(crate) block: Option<u32>,
}

impl Link {
    const NONE: u32 = u32::MAX;

    pub(crate) const fn pack(self) -> u64 {
        let block = match self.block {
            Some(block) => block,
            None => Self::NONE,
        };
        (self.sequence as u64) << 32 | block as u64
    }

    pub(crate) const fn unpack(word: u64) -> Self {
        let block = word as u32;
        Self {
            sequence: (word >> 32) as u32,
            block: if block == Self::NONE {
                None
            } else {
                Some(block)
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Link, MAX_BLOCKS, MAX_SLOTS, Position};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn positions_survive_packing(
            sequence: u32,
            block in 0..MAX_BLOCKS,
            index in 0..=MAX_SLOTS as u32,
        ) {
            let position = Position { sequence, block, index };
            prop_assert_eq!(Position::unpack(position.pack()), position);
        }

        #[test]
        fn links_survive_packing(sequence: u32, block in prop::option::of(0..MAX_BLOCKS)) {
            let link = Link { sequence, block };
            prop_assert_eq!(Link::unpack(link.pack()), link);
        }
    }
}
