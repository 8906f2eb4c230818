//! How many slots a queue's blocks have.

use crate::position::{MAX_SLOTS, MAX_SLOTS_OF_SMALL};
use crate::shape::Shape;

/// Slots of the first block, of the second, and of each later one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) first: usize,
    /// `None`: as `later`.
    pub(crate) second: Option<usize>,
    pub(crate) later: usize,
}

/// The most slots that a first block may have: the queue keeps the number in a byte.
const MAX_SLOTS_OF_FIRST: usize = u8::MAX as usize;

/// Bytes of a later block, where there are many queues, most of them idle. A word less than 2048:
/// some allocators keep one beside each allocation.
const BYTES: usize = 2040;

impl Sizes {
    /// Of a queue in a larger object: the first block, which it keeps while it is idle, is small.
    pub(crate) const fn of_queue<T>() -> Self {
        Self::with_later::<T>(BYTES, 7)
    }

    /// Of a channel, whose two ends are on different cores. There are few channels, so the first
    /// block may be large, too: if it is used again and again, one rewind serves some two hundred
    /// events, and not ten. A later one is larger where an event takes more than a cache line: the
    /// allocator takes a good part of what a backlog of these costs.
    pub(crate) const fn of_channel<T>() -> Self {
        let later = if size_of::<T>() > 64 { 16_376 } else { 4088 };
        Self {
            first: Shape::<T>::slots_in(BYTES, 7, MAX_SLOTS_OF_FIRST),
            ..Self::with_later::<T>(later, 31)
        }
    }

    /// A later block has that many bytes, so that its own share per event is small; and `at_least`
    /// slots, so that large events are not all allocation.
    const fn with_later<T>(bytes: usize, at_least: usize) -> Self {
        Self {
            first: MAX_SLOTS_OF_SMALL,
            second: None,
            later: Shape::<T>::slots_in(bytes, at_least, MAX_SLOTS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sizes;
    use crate::shape::Shape;

    #[test]
    fn the_first_block_is_small_whatever_the_events() {
        fn slots<T>() -> (usize, usize) {
            let sizes = Sizes::of_queue::<T>();
            (sizes.first, sizes.later)
        }
        assert_eq!(slots::<u64>(), (3, 224));
        assert_eq!(slots::<()>(), (3, 511));
        assert_eq!(slots::<u32>(), (3, 402));
        assert_eq!(slots::<[u64; 4]>(), (3, 61));
        assert_eq!(slots::<[u64; 100]>(), (3, 7));
    }

    #[test]
    fn the_first_block_of_a_channel_is_large() {
        fn slots<T>() -> (usize, usize) {
            let sizes = Sizes::of_channel::<T>();
            (sizes.first, sizes.later)
        }
        assert_eq!(slots::<u64>(), (224, 451));
        assert_eq!(slots::<()>(), (255, 511));
        assert_eq!(slots::<[u64; 100]>(), (7, 33));
        assert_eq!(slots::<[u64; 32]>(), (7, 63));
        assert_eq!(slots::<[u64; 8]>(), (31, 62));
        // One slot more would take a byte more than 16 376.
        assert_eq!(slots::<[u8; 243]>(), (8, 66));
    }

    #[test]
    fn a_block_leaves_its_allocator_a_word() {
        fn bytes<T>(slots: usize) -> usize {
            Shape::<T>::layout(slots).size()
        }
        assert_eq!((bytes::<u64>(3), bytes::<u32>(3)), (56, 56));
        assert_eq!((bytes::<u64>(4), bytes::<u64>(224)), (2040, 2040));
        assert_eq!((bytes::<u64>(225), bytes::<[u64; 100]>(7)), (4088, 6136));
    }
}
