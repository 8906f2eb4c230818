//! The packed word that decides every race.

/// The item that thieves take next, the epoch, and the owner's permission to take it.
///
/// ```text
///  63            32 31            2    1        0
/// +----------------+---------------+--------+-------+
/// |      tag       |     index     | shared | asked |   tag and index wrap around
/// +----------------+---------------+--------+-------+
/// ```
///
/// Thieves add to `index` when they claim items. The owner alone adds to `tag`, whenever something
/// that a thief may have read before no longer holds. A compare-and-swap that expects an older tag
/// fails. Within one tag `shared` is set once at most, and never taken down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Top(pub(crate) u64);

impl Top {
    /// A thief wants to be shared with.
    pub(crate) const ASKED: u64 = 1;
    /// The items in the deque are everybody's.
    pub(crate) const SHARED: u64 = 2;
    /// The addend that starts the next epoch and leaves the rest of the word alone. The carry of
    /// the last tag is lost.
    pub(crate) const NEXT_TAG: u64 = 1 << 32;
    /// The index begins at this bit.
    const INDEX: u32 = 2;

    /// Makes the word of an empty deque, with tag and index from `start` on. It is shared, and
    /// counts as asked by all that slept before it was there.
    pub(crate) const fn new(start: u32) -> Self {
        let index = start << Self::INDEX;
        Self((start as u64) << 32 | index as u64 | Self::SHARED | Self::ASKED)
    }

    #[inline]
    pub(crate) const fn is_shared(self) -> bool {
        self.0 & Self::SHARED != 0
    }

    #[inline]
    pub(crate) const fn is_asked(self) -> bool {
        self.0 & Self::ASKED != 0
    }

    /// Tells whether it is biased, and no thief has asked.
    #[inline]
    pub(crate) const fn is_biased(self) -> bool {
        self.0 & (Self::SHARED | Self::ASKED) == 0
    }

    /// Returns the number of items before that position; below zero if the owner is about to find
    /// that there is none. The two are no further apart than a capacity.
    #[inline]
    pub(crate) const fn until(self, bottom: u64) -> i32 {
        let index = self.0 as u32 & !((1 << Self::INDEX) - 1);
        ((bottom as u32) << Self::INDEX).wrapping_sub(index) as i32 >> Self::INDEX
    }

    /// Returns whether thieves have left the item at that position, which is as near.
    #[inline]
    pub(crate) const fn leaves(self, position: u64) -> bool {
        // Below the index are flags: with both set on the left, what they are does not matter.
        let last = (position as u32) << Self::INDEX | Self::SHARED as u32 | Self::ASKED as u32;
        last.wrapping_sub(self.0 as u32) as i32 >= 0
    }

    /// The position that thieves have reached, in a deque that ends at `bottom`.
    #[inline]
    pub(crate) const fn position(self, bottom: u64) -> u64 {
        bottom.wrapping_add_signed(-(self.until(bottom) as i64))
    }

    /// The same epoch, `count` items later.
    #[inline]
    pub(crate) const fn advance(self, count: u32) -> Self {
        let low = (self.0 as u32).wrapping_add(count << Self::INDEX);
        Self(self.0 >> 32 << 32 | low as u64)
    }

    /// The next epoch.
    #[inline]
    pub(crate) const fn next(self) -> Self {
        Self(self.0.wrapping_add(Self::NEXT_TAG))
    }

    /// The next epoch, biased.
    #[inline]
    pub(crate) const fn next_biased(self) -> Self {
        Self(self.next().0 & !(Self::SHARED | Self::ASKED))
    }
}

#[cfg(test)]
mod tests {
    use super::Top;
    use proptest::prelude::*;

    /// The largest difference of two positions in a deque.
    const FAR: i64 = 1 << 28;

    proptest! {
        #[test]
        fn the_distance_is_that_of_the_positions(
            top: u32,
            flags in 0..4_u64,
            distance in -FAR..=FAR,
        ) {
            let position = (1 << 32) + u64::from(top);
            let bottom = position.wrapping_add_signed(distance);
            prop_assert_eq!(i64::from(Top::new(top).until(bottom)), distance);
            prop_assert_eq!(Top::new(top).position(bottom), position);
            let word = Top(Top::new(top).0 & !3 | flags);
            prop_assert_eq!(word.leaves(bottom), distance >= 0);
        }

        #[test]
        fn claims_leave_the_rest_alone(start: u32, flags in 0..4_u64, count in 0..1_u32 << 28) {
            let top = Top(Top::new(start).0 & !3 | flags);
            let later = top.advance(count);
            prop_assert_eq!(later.0 >> 32, u64::from(start));
            prop_assert_eq!(later.0 & 3, flags);
            let position = (1 << 32) + u64::from(start);
            prop_assert_eq!(later.until(position + u64::from(count)), 0);
        }

        #[test]
        fn the_next_tag_leaves_the_index_alone(word: u64) {
            let top = Top(word);
            for next in [top.next(), top.next_biased()] {
                prop_assert_eq!((next.0 >> 32) as u32, ((word >> 32) as u32).wrapping_add(1));
                prop_assert_eq!(next.until(1 << 40), top.until(1 << 40));
            }
            prop_assert_eq!(top.next().0 & 3, word & 3);
            prop_assert!(top.next_biased().is_biased());
        }
    }
}
