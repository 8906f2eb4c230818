//! Padding against false sharing.

use core::fmt;
use core::ops::{Deref, DerefMut};

/// A value alone on its cache lines, so that writing it does not slow down the readers of its
/// neighbours.
///
/// 128 bytes rather than 64: Intel's spatial prefetcher fetches lines in aligned pairs, and Apple's
/// and some other Arm cores have lines of 128 bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(128))]
pub struct CachePadded<T> {
    value: T,
}

impl<T> CachePadded<T> {
    /// Pads `value`.
    pub const fn new(value: T) -> Self {
        Self { value }
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for CachePadded<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for CachePadded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::CachePadded;

    #[test]
    fn neighbours_do_not_share_a_line() {
        let pair = [CachePadded::new(1_u8), CachePadded::new(2_u8)];
        let distance = (&raw const *pair[1]).addr() - (&raw const *pair[0]).addr();
        assert_eq!(distance, 128);
        assert_eq!(*pair[0] + *pair[1], 3);
    }
}
