//! An event that a consumer has found without asking the tail.

use crate::content::Full;
use crate::head::Head;
use crate::position::Position;
use crate::producers::Producers;

/// An event that the head has passed, to be taken at once. Its drop makes a used-up block claimable
/// again; not `take`, so that the event can go straight where the caller returns it.
pub(crate) struct AtHand<'a, T, const ALL_WIDE: bool> {
    head: &'a Head<ALL_WIDE>,
    producers: &'a Producers<T, ALL_WIDE>,
    event: Full<T>,
    /// Where the head is.
    end: Position<ALL_WIDE>,
}

impl<'a, T, const ALL_WIDE: bool> AtHand<'a, T, ALL_WIDE> {
    #[inline]
    pub(crate) fn new(
        head: &'a Head<ALL_WIDE>,
        producers: &'a Producers<T, ALL_WIDE>,
        event: Full<T>,
        end: Position<ALL_WIDE>,
    ) -> Self {
        Self {
            head,
            producers,
            event,
            end,
        }
    }

    /// # Safety
    /// As for [`Full::take`].
    #[inline]
    pub(crate) unsafe fn take(&self) -> T {
        // SAFETY: as ours.
        unsafe { self.event.take() }
    }
}

impl<T, const ALL_WIDE: bool> Drop for AtHand<'_, T, ALL_WIDE> {
    #[inline]
    fn drop(&mut self) {
        if self.end.left() == 0 {
            // SAFETY: made by the consumer, which has taken the event.
            unsafe { self.head.rewind(self.producers, self.end) };
        }
    }
}
