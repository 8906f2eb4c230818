//! The packed words: a place in the list of blocks, and the queue's tail; the depth they tell.

use core::fmt;

/// The alignment of a block, at least: what an allocator gives anyway.
pub(crate) const ALIGN: usize = 16;

/// Bits at the top of an address that repeat the bit below them, and that a word need not keep.
///
/// Addresses of a process on a 64-bit system have 52 bits at most, unless it asks for more. Where
/// they have 32 bits, or a tag at the top, a word keeps all of them, and blocks have few slots.
const UNUSED: u32 = match usize::BITS {
    64 if !cfg!(target_os = "android") => 12,
    _ => 0,
};

/// All bits of a word but the address: the number of slots left, and above it, in a tail, `closed`.
const LOW: usize = (1 << if UNUSED > 0 { UNUSED } else { ALIGN.ilog2() }) - 1;
pub(crate) const CLOSED: usize = LOW.div_ceil(2);

/// The most slots that a block may have: 2047, or 7.
pub(crate) const MAX_SLOTS: usize = LOW / 2;

/// A place between two slots: the address of a block, and the number of its slots that come after
/// the place. Slots are used from the last to the first, so the next one has the index `left - 1`.
/// A word thus says by itself whether its block is used up, whatever the block's size.
///
/// The block is an address and not a pointer on purpose. A compare-exchange compares addresses; a
/// *pointer* from an old word could carry the provenance of a block that was freed, while a new
/// block has the same address. The address is turned into a pointer only after the compare-exchange
/// has succeeded, when the block that lives there has been exposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position(usize);

impl Position {
    /// No block, and no slot left: where a queue begins.
    pub(crate) const NONE: Self = Self(0);

    /// The place before the first slot of the block at address `block`, which has `slots` slots.
    pub(crate) const fn before(block: usize, slots: usize) -> Self {
        debug_assert!(block.is_multiple_of(ALIGN) && slots <= MAX_SLOTS);
        Self((block << UNUSED) | slots)
    }

    /// Address of the block; 0 is none.
    pub(crate) const fn block(self) -> usize {
        ((self.0 & !LOW).cast_signed() >> UNUSED).cast_unsigned()
    }

    /// The number of the block's slots that come after this place; 0 where there is no block.
    pub(crate) const fn left(self) -> usize {
        self.0 & LOW
    }

    /// The place behind the next slot. The block must have one left.
    pub(crate) const fn next(self) -> Self {
        debug_assert!(self.left() > 0);
        Self(self.0 - 1)
    }

    /// Says whether this place is one slot after that one, if both are in the same block.
    pub(crate) const fn is_one_after(self, earlier: Self) -> bool {
        self.0.wrapping_add(1) == earlier.0
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
pub(crate) struct Tail {
    /// The place of the next push; with no slot left there, a push installs a new block first.
    pub(crate) next: Position,
    /// Set: no push claims a slot any more.
    pub(crate) closed: bool,
}

impl Tail {
    pub(crate) const fn open(next: Position) -> Self {
        let closed = false;
        Self { next, closed }
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

/// The number of events that wait, as far as two words say it: exact if they are in one block.
/// [Displayed](fmt::Display) with a `+` where there may be more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth {
    /// The least number of events.
    pub events: usize,
    /// `true` if there are no more.
    pub is_exact: bool,
}

impl Depth {
    /// Counts from the head to the tail. In one block the places tell the slots between them; the
    /// number of blocks between two others is unknown to a thread that must not look into them.
    pub(crate) fn between(head: Position, tail: Position) -> Self {
        let is_exact = head.block() == tail.block();
        let events = match is_exact {
            true => head.left().saturating_sub(tail.left()),
            // A push that brings a block takes a slot of it.
            false => head.left() + 1,
        };
        Self { events, is_exact }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.events, if self.is_exact { "" } else { "+" })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::{ALIGN, CLOSED, MAX_SLOTS, Position, Tail, UNUSED};
    use crate::EventQueue;

    proptest! {
        /// Takes a block apart and puts it together again, at each place that a word can name.
        #[test]
        fn a_tail_survives_packing(
            address in 1..=usize::MAX >> (UNUSED + 1),
            in_the_upper_half: bool,
            slots in 1..=MAX_SLOTS,
            used: prop::sample::Index,
            closed: bool,
        ) {
            let address = if in_the_upper_half { !address } else { address };
            let (block, used) = (address & !(ALIGN - 1), used.index(slots + 1));
            let start = Position::before(block, slots);
            prop_assert_eq!((start.block(), start.left()), (block, slots));

            let next = (0..used).fold(start, |place, _| place.next());
            prop_assert_eq!((next.block(), next.left()), (block, slots - used));
            prop_assert_eq!(Position::from_word(next.to_word()), next);

            let tail = Tail { next, closed };
            prop_assert_eq!(Tail::from_word(tail.to_word()), tail);
            let closed = Tail::from_word(tail.to_word() | CLOSED);
            prop_assert_eq!(closed, Tail { next, closed: true });
        }
    }

    #[test]
    fn no_block_has_no_slots_left() {
        let none = Position::NONE;
        assert_eq!((none.block(), none.left(), none.to_word()), (0, 0, 0));
    }

    /// Pushes until the second block has an event, and drains. What is said never is more than
    /// there is, and exact as long as one block has all.
    #[test]
    fn as_many_as_one_block_shows() {
        let queue = EventQueue::with_blocks(3, 5);
        let depth = || queue.depth().to_string();
        assert_eq!(depth(), "0");
        let push = |count: u32| (0..count).for_each(|event| queue.push(event).unwrap());
        // SAFETY: this thread is the one consumer.
        let drain = |max| unsafe { queue.drain_up_to(max, drop) };
        push(1);
        assert_eq!(depth(), "1+", "the consumer has not come to the block yet");
        drain(1);
        assert_eq!(depth(), "0");
        push(2);
        assert_eq!(depth(), "2");
        drain(1);
        assert_eq!(depth(), "1");
        push(20);
        assert_eq!(depth(), "2+");
        while drain(7) {}
        assert_eq!(depth(), "0");
    }
}
