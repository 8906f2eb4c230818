//! The packed words: a place in the list of blocks, and the queue's tail.

/// The most slots that a block may have.
pub(crate) const MAX_SLOTS: usize = WIDE.slots();

/// The most slots of a block that needs no more than the smaller alignment.
pub(crate) const MAX_SLOTS_OF_SMALL: usize = NARROW.slots();

/// How a word is shared between a block's address and the number of slots left in it. From the
/// lowest bit: `closed`, which only a tail has; `wide`; `left`; the address.
///
/// A block is aligned to as many bytes as the bits below the address can count. There are two
/// kinds, because alignment beyond an allocator's own is dear where a block is small: glibc takes
/// 192 bytes for 72 that are aligned to 64. The small block of an idle queue asks for 16, which is
/// free.
struct Format {
    align: usize,
}

const NARROW: Format = Format { align: 16 };
const WIDE: Format = Format { align: 2048 };

const CLOSED: usize = 1;
const WIDE_BIT: usize = 2;
/// One slot, in a word.
const ONE_LEFT: usize = 4;

impl Format {
    /// The format of blocks with that many slots.
    const fn for_slots(slots: usize) -> Self {
        if slots <= MAX_SLOTS_OF_SMALL {
            NARROW
        } else {
            WIDE
        }
    }

    /// The most slots that a block of this kind may have.
    const fn slots(&self) -> usize {
        self.align / ONE_LEFT - 1
    }

    const fn is_wide(&self) -> bool {
        self.align == WIDE.align
    }
}

const _: () = assert!(NARROW.align.is_power_of_two() && WIDE.align.is_power_of_two());
const _: () = assert!(CLOSED | WIDE_BIT == ONE_LEFT - 1);

/// The alignment of a block with that many slots.
pub(crate) const fn block_align(slots: usize) -> usize {
    Format::for_slots(slots).align
}

/// A place between two slots: the address of a block, and how many of its slots come after the
/// place. Slots are used from the last to the first, so the next one has the index `left - 1`. A
/// word thus says by itself whether its block is used up, whatever the block's size.
///
/// The block is an address and not a pointer on purpose. A compare-exchange compares addresses; a
/// *pointer* from an old word could carry the provenance of a block that was freed, while a new
/// block has the same address. The address is turned into a pointer only after the compare-exchange
/// has succeeded, when the block that lives there has been exposed.
///
/// `ALL_WIDE`: no queue of this kind has a narrow block, as a channel has none. Then a place is
/// taken apart by constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position<const ALL_WIDE: bool = false>(usize);

impl<const ALL_WIDE: bool> Position<ALL_WIDE> {
    /// No block, and no slot left: where a queue begins.
    pub(crate) const NONE: Self = Self(0);

    /// Before the first slot of the block at address `block`, which has `slots` slots.
    pub(crate) const fn before(block: usize, slots: usize) -> Self {
        let format = Format::for_slots(slots);
        debug_assert!(block.is_multiple_of(format.align) && slots <= format.slots());
        debug_assert!(format.is_wide() || !ALL_WIDE);
        let wide = if format.is_wide() { WIDE_BIT } else { 0 };
        Self(block | (slots * ONE_LEFT) | wide)
    }

    /// Address of the block; 0 is none.
    pub(crate) const fn block(self) -> usize {
        self.0 ^ self.low_bits()
    }

    /// How many slots of the block come after this place; 0 where there is no block.
    pub(crate) const fn left(self) -> usize {
        self.low_bits() / ONE_LEFT
    }

    /// What lies below the address. Computed and not chosen: the compiler makes a choice anew for
    /// each use, and a drain asks three times for each event.
    const fn low_bits(self) -> usize {
        const MORE: usize = WIDE.align - NARROW.align;
        if ALL_WIDE {
            return self.0 & (WIDE.align - 1);
        }
        self.0 & (NARROW.align - 1 + (self.0 & WIDE_BIT) * (MORE / WIDE_BIT))
    }

    /// The place behind the next slot. The block must have one left.
    pub(crate) const fn next(self) -> Self {
        debug_assert!(self.left() > 0);
        Self(self.0 - ONE_LEFT)
    }

    /// Whether this place is one slot after that one, if both are in the same block.
    pub(crate) const fn is_one_after(self, earlier: Self) -> bool {
        self.0.wrapping_add(ONE_LEFT) == earlier.0
    }

    pub(crate) const fn to_word(self) -> usize {
        self.0
    }

    pub(crate) const fn from_word(word: usize) -> Self {
        debug_assert!(word & CLOSED == 0);
        Self(word)
    }
}

/// The word that producers contend for: the next slot to claim, and whether claiming is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail<const ALL_WIDE: bool = false> {
    /// Where the next push goes; with no slot left there, a push installs a new block first.
    pub(crate) next: Position<ALL_WIDE>,
    /// Set: no push claims a slot any more.
    pub(crate) closed: bool,
}

impl<const ALL_WIDE: bool> Tail<ALL_WIDE> {
    /// The bit of `closed`, so that one RMW can set it.
    pub(crate) const CLOSED: usize = CLOSED;

    pub(crate) const fn open(next: Position<ALL_WIDE>) -> Self {
        Self {
            next,
            closed: false,
        }
    }

    pub(crate) const fn to_word(self) -> usize {
        self.next.to_word() | if self.closed { CLOSED } else { 0 }
    }

    pub(crate) const fn from_word(word: usize) -> Self {
        Self {
            next: Position(word & !CLOSED),
            closed: word & CLOSED != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MAX_SLOTS, MAX_SLOTS_OF_SMALL, Position, Tail, block_align};

    /// Takes a block apart and puts it together again, at each place that a word can name.
    fn survives<const ALL_WIDE: bool>(
        block: usize,
        slots: usize,
        used: usize,
        closed: bool,
    ) -> Result<(), TestCaseError> {
        let start = Position::<ALL_WIDE>::before(block, slots);
        prop_assert_eq!((start.block(), start.left()), (block, slots));

        let next = (0..used).fold(start, |place, _| place.next());
        prop_assert_eq!((next.block(), next.left()), (block, slots - used));
        prop_assert_eq!(Position::from_word(next.to_word()), next);

        let tail = Tail { next, closed };
        prop_assert_eq!(Tail::from_word(tail.to_word()), tail);
        let closed = Tail::from_word(tail.to_word() | Tail::<ALL_WIDE>::CLOSED);
        prop_assert_eq!(closed, Tail { next, closed: true });
        Ok(())
    }

    proptest! {
        #[test]
        fn a_tail_survives_packing(
            block in 1..=usize::MAX / block_align(MAX_SLOTS),
            slots in 1..=MAX_SLOTS,
            used: prop::sample::Index,
            closed: bool,
        ) {
            let (block, used) = (block * block_align(slots), used.index(slots + 1));
            survives::<false>(block, slots, used, closed)?;
            if slots > MAX_SLOTS_OF_SMALL {
                survives::<true>(block, slots, used, closed)?;
            }
        }
    }

    #[test]
    fn no_block_has_no_slots_left() {
        fn parts<const ALL_WIDE: bool>() -> (usize, usize, usize) {
            let none = Position::<ALL_WIDE>::NONE;
            (none.block(), none.left(), none.to_word())
        }
        assert_eq!((parts::<false>(), parts::<true>()), ((0, 0, 0), (0, 0, 0)));
    }

    #[test]
    fn small_blocks_are_not_aligned_like_large_ones() {
        assert_eq!((MAX_SLOTS_OF_SMALL, MAX_SLOTS), (3, 511));
        assert_eq!((block_align(3), block_align(4)), (16, 2048));
    }
}
