//! The packed words: a place in the list of blocks, and the queue's tail.

/// Blocks are aligned to this many bytes, so that the address of one leaves the low bits of a word
/// free.
pub(crate) const BLOCK_ALIGN: usize = 128;

/// The most slots that a block may have.
pub(crate) const MAX_SLOTS: usize = LEFT_MASK;

const LEFT_MASK: usize = CLOSED_BIT - 1;
const CLOSED_BIT: usize = BLOCK_ALIGN / 2;
const BLOCK_MASK: usize = !(BLOCK_ALIGN - 1);

const _: () = assert!(BLOCK_ALIGN.is_power_of_two());
const _: () = assert!(LEFT_MASK & CLOSED_BIT == 0 && (LEFT_MASK | CLOSED_BIT) & BLOCK_MASK == 0);

/// A place between two slots: the address of a block, and how many of its slots come after the
/// place. Slots are used from the last to the first, so the next one has the index `left - 1`.
///
/// Counted so, a word says by itself whether its block is used up; blocks of different sizes need no
/// further care.
///
/// The block is an address and not a pointer on purpose. A compare-exchange compares addresses; a
/// *pointer* taken from an old word could carry the provenance of a block that was freed and
/// allocated again at the same address. An address that is turned into a pointer only after the
/// compare-exchange succeeded cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Address of a block; 0 is none.
    pub(crate) block: usize,
    /// `0..=MAX_SLOTS`; 0 where there is no block.
    pub(crate) left: usize,
}

impl Position {
    /// No block, so none left of its slots: where a queue begins.
    pub(crate) const NONE: Self = Self { block: 0, left: 0 };

    /// The place behind the next slot, of which there is one.
    pub(crate) const fn next(self) -> Self {
        Self {
            block: self.block,
            left: self.left - 1,
        }
    }

    pub(crate) const fn to_word(self) -> usize {
        debug_assert!(self.block & !BLOCK_MASK == 0 && self.left <= MAX_SLOTS);
        self.block | self.left
    }

    pub(crate) const fn from_word(word: usize) -> Self {
        Self {
            block: word & BLOCK_MASK,
            left: word & LEFT_MASK,
        }
    }
}

/// What producers contend for: the next slot to claim, and whether claiming is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Where the next push goes; with no slot left there, a push installs a new block first.
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
    use super::{BLOCK_ALIGN, MAX_SLOTS, Position, Tail};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_tail_survives_packing(
            block in 0..=usize::MAX / BLOCK_ALIGN,
            left in 0..=MAX_SLOTS,
            closed: bool,
        ) {
            let next = Position { block: block * BLOCK_ALIGN, left };
            let tail = Tail { next, closed };
            prop_assert_eq!(Tail::from_word(tail.to_word()), tail);
            prop_assert_eq!(Position::from_word(next.to_word()), next);
            let closed = Tail::from_word(tail.to_word() | Tail::CLOSED);
            prop_assert_eq!(closed, Tail { next, closed: true });
        }
    }
}
