//! The packed words: a place in the list of blocks, and the queue's tail.

/// Blocks are aligned to this many bytes, so that the address of one leaves the low bits of a word
/// free.
pub(crate) const BLOCK_ALIGN: usize = 64;

/// The most slots that a block may have: an index is a slot's number, or one past the last.
pub(crate) const MAX_CAP: usize = INDEX_MASK;

const INDEX_MASK: usize = CLOSED_BIT - 1;
const CLOSED_BIT: usize = BLOCK_ALIGN / 2;
const BLOCK_MASK: usize = !(BLOCK_ALIGN - 1);

const _: () = assert!(BLOCK_ALIGN.is_power_of_two());
const _: () = assert!(INDEX_MASK & CLOSED_BIT == 0 && (INDEX_MASK | CLOSED_BIT) & BLOCK_MASK == 0);

/// A slot's place: the address of its block, and its index there. An index equal to the block's
/// capacity is the place behind its last slot.
///
/// The block is an address and not a pointer on purpose. A compare-exchange compares addresses; a
/// *pointer* taken from an old word could carry the provenance of a block that was freed and
/// allocated again at the same address. An address that is turned into a pointer only after the
/// compare-exchange succeeded cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Address of a block; 0 is none.
    pub(crate) block: usize,
    /// `0..=CAP`.
    pub(crate) index: usize,
}

impl Position {
    /// The first slot of the block at `block`.
    pub(crate) const fn first_of(block: usize) -> Self {
        Self { block, index: 0 }
    }

    /// The next place in the same block.
    pub(crate) const fn next(self) -> Self {
        Self {
            block: self.block,
            index: self.index + 1,
        }
    }

    pub(crate) const fn to_word(self) -> usize {
        debug_assert!(self.block & !BLOCK_MASK == 0 && self.index <= MAX_CAP);
        self.block | self.index
    }

    pub(crate) const fn from_word(word: usize) -> Self {
        Self {
            block: word & BLOCK_MASK,
            index: word & INDEX_MASK,
        }
    }
}

/// What producers contend for: the next slot to claim, and whether claiming is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The next slot that a push takes; behind the last one of its block, a push installs a new
    /// block first.
    pub(crate) next: Position,
    /// Set: no push claims a slot any more.
    pub(crate) closed: bool,
}

impl Tail {
    /// The bit that `closed` is, for setting it with one RMW.
    pub(crate) const CLOSED: usize = CLOSED_BIT;

    pub(crate) const fn open(next: Position) -> Self {
        Self {
            next,
            closed: false,
        }
    }

    pub(crate) const fn to_word(self) -> usize {
        self.next.to_word() | if self.closed { CLOSED_BIT } else { 0 }
    }

    pub(crate) const fn from_word(word: usize) -> Self {
        Self {
            next: Position::from_word(word),
            closed: word & CLOSED_BIT != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_ALIGN, MAX_CAP, Position, Tail};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_tail_survives_packing(
            block in 0..=usize::MAX / BLOCK_ALIGN,
            index in 0..=MAX_CAP,
            closed: bool,
        ) {
            let next = Position { block: block * BLOCK_ALIGN, index };
            let tail = Tail { next, closed };
            prop_assert_eq!(Tail::from_word(tail.to_word()), tail);
            prop_assert_eq!(Position::from_word(next.to_word()), next);
            let closed = Tail::from_word(tail.to_word() | Tail::CLOSED);
            prop_assert_eq!(closed, Tail { next, closed: true });
        }
    }
}
