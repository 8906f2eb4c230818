//! A set of positions below 32.

use core::fmt;
use core::ops::BitOr;

/// Positions of cells, in the order in which [`LockSet::new`](crate::LockSet::new) got them.
///
/// ```
/// use filch_data_cell::Mask;
///
/// let held = Mask::NONE.with(0).with(3);
/// assert!(held.contains(3) && !held.contains(1));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Mask(u32);

impl Mask {
    /// No position.
    pub const NONE: Self = Self(0);

    /// The number of positions.
    pub(crate) const POSITIONS: usize = u32::BITS as usize;

    /// Returns a copy with `position`. One from 32 on, which no set has, changes nothing.
    #[must_use = "it is a copy that has the position"]
    pub const fn with(self, position: usize) -> Self {
        if position < Self::POSITIONS {
            Self(self.0 | 1 << position)
        } else {
            self
        }
    }

    /// Returns whether it has `position`.
    pub const fn contains(self, position: usize) -> bool {
        self.meets(Self::NONE.with(position))
    }

    /// Returns whether the two have a position in common.
    #[inline]
    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the lowest position; 32 if there is none.
    pub(crate) const fn first(self) -> usize {
        self.0.trailing_zeros() as usize
    }
}

impl BitOr for Mask {
    type Output = Self;

    /// Returns the positions of either.
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<usize> for Mask {
    fn from_iter<I: IntoIterator<Item = usize>>(positions: I) -> Self {
        positions.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let positions = (0..Self::POSITIONS).filter(|&position| self.contains(position));
        f.debug_set().entries(positions).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::format;

    use super::Mask;

    #[test]
    fn positions_are_in_it_or_not() {
        let mask: Mask = [31, 2].into_iter().collect();
        assert_eq!(mask, Mask::NONE.with(2) | Mask::NONE.with(31));
        assert!(mask.contains(2) && mask.contains(31));
        assert!(!mask.contains(0) && !mask.contains(32) && !mask.contains(usize::MAX));
        assert_eq!(mask.first(), 2);
        assert_eq!(format!("{mask:?}"), "{2, 31}");
    }

    #[test]
    fn a_position_that_cannot_be_changes_nothing() {
        assert_eq!(Mask::NONE.with(32).with(usize::MAX), Mask::NONE);
        assert!(Mask::NONE.with(0).meets(Mask::NONE.with(0)));
        assert!(!Mask::NONE.with(0).meets(Mask::NONE.with(1)));
    }
}
