//! The packed words: a place in the endless row of claims, and the queue's tail.

use core::num::NonZeroU32;

/// A place in the row of all claims. Its word is `{lap, index, 0}`: the ring has been gone round
/// `lap` times before, and the slot is number `index`. How many bits are the index's depends on the
/// capacity: see [`Laps`]. Words grow along the row, and wrap from the last lap to lap 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position(u64);

impl Position {
    pub(crate) const fn to_word(self) -> u64 {
        self.0
    }

    pub(crate) const fn from_word(word: u64) -> Self {
        debug_assert!(word & Tail::CLOSED == 0);
        Self(word)
    }
}

/// What producers contend for: the next place to claim, and whether claiming is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The place that the next push takes, if there is room.
    pub(crate) next: Position,
    /// Set: no push claims a place any more.
    pub(crate) closed: bool,
}

impl Tail {
    /// The bit that `closed` is, for setting it with one RMW. Positions leave it free.
    pub(crate) const CLOSED: u64 = 1;

    pub(crate) const fn from_word(word: u64) -> Self {
        Self {
            next: Position(word & !Self::CLOSED),
            closed: word & Self::CLOSED != 0,
        }
    }
}

/// How positions go round a ring of a given capacity.
///
/// A lap's words begin at a multiple of a power of two, the lap's width; where the capacity is
/// none, some words at the end of each lap are skipped. So any capacity goes without a division,
/// and the counter wraps from the last lap to lap 0 as if nothing had happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Laps {
    /// The lap's width, less one.
    mask: u64,
    /// What the last place of a lap has in the bits of the mask.
    last: u64,
}

impl Laps {
    pub(crate) const fn of(capacity: NonZeroU32) -> Self {
        let capacity = capacity.get() as u64;
        Self {
            mask: 2 * capacity.next_power_of_two() - 1,
            last: 2 * (capacity - 1),
        }
    }

    pub(crate) const fn capacity(self) -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add((self.last / 2) as u32)
    }

    /// The first place of `lap`, of which the highest bits are ignored.
    pub(crate) const fn first_of(self, lap: u64) -> Position {
        Position(lap.wrapping_mul(self.mask + 1))
    }

    /// The slot at `position`.
    pub(crate) const fn index(self, position: Position) -> usize {
        ((position.0 & self.mask) / 2) as usize
    }

    /// The place after `position`.
    pub(crate) const fn next(self, position: Position) -> Position {
        if position.0 & self.mask == self.last {
            Position((position.0 | self.mask).wrapping_add(1))
        } else {
            Position(position.0 + 2)
        }
    }

    /// What a slot's mark is once it has been filled in the lap of `position`. It alternates: the
    /// mark of the lap before means "not yet", and nothing has to be cleared between two laps.
    pub(crate) const fn full_mark(self, position: Position) -> bool {
        position.0 & (self.mask + 1) == 0
    }

    /// Whether all places of the ring lie between `head` and `tail`. A tail that is older than the
    /// head lies before it; hence signed.
    pub(crate) const fn is_full(self, head: Position, tail: Position) -> bool {
        tail.0.wrapping_sub(head.0).cast_signed() > self.mask.cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::{Laps, Position, Tail};
    use core::num::NonZeroU32;
    use proptest::prelude::*;

    fn laps() -> impl Strategy<Value = Laps> {
        let capacity = prop_oneof![1..=9_u32, 1..=u32::MAX, Just(u32::MAX), Just(1 << 31)];
        capacity.prop_map(|capacity| Laps::of(NonZeroU32::new(capacity).unwrap()))
    }

    proptest! {
        #[test]
        fn a_tail_survives_packing(word: u64) {
            let tail = Tail::from_word(word);
            let packed = tail.next.to_word() | if tail.closed { Tail::CLOSED } else { 0 };
            prop_assert_eq!(packed, word);
            prop_assert_eq!(Tail::from_word(word | Tail::CLOSED).next, tail.next);
        }

        #[test]
        fn steps_go_round_the_ring(laps in laps(), lap: u64, steps in 1_u32..100) {
            let capacity = u64::from(laps.capacity().get());
            let mut position = laps.first_of(lap);
            for step in 0..u64::from(steps) {
                prop_assert_eq!(laps.index(position) as u64, step % capacity);
                let expected = (lap + step / capacity) % 2 == 0;
                prop_assert_eq!(laps.full_mark(position), expected);
                prop_assert_eq!(position.to_word() & Tail::CLOSED, 0);
                position = laps.next(position);
            }
        }

        /// Around any place, the counter's end among them.
        #[test]
        fn full_is_a_distance_of_the_capacity(
            capacity in 1..=9_u32,
            lap in prop_oneof![any::<u64>(), Just(u64::MAX)],
            before in 0..9_u32,
            held in 0..=9_u32,
        ) {
            let laps = Laps::of(NonZeroU32::new(capacity).unwrap());
            let forward = |from: Position, steps| (0..steps).fold(from, |at, _| laps.next(at));
            let head = forward(laps.first_of(lap), before);
            let held = held.min(capacity);
            let tail = forward(head, held);
            prop_assert_eq!(laps.is_full(head, tail), held == capacity);
            // An old tail, which the head has passed.
            prop_assert!(!laps.is_full(tail, head));
        }
    }
}
