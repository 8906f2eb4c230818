//! How far the consumer has come.

use filch_sync::atomic::{AtomicUsize, Ordering};

use crate::block::Block;
use crate::position::Position;
use crate::producers::Producers;

/// The place before the oldest slot that is not emptied.
pub(crate) struct Head<const ALL_WIDE: bool> {
    /// A [`Position`]. Only the consumer writes it.
    word: AtomicUsize,
}

impl<const ALL_WIDE: bool> Head<ALL_WIDE> {
    pub(crate) fn new() -> Self {
        Self {
            word: AtomicUsize::new(Position::<ALL_WIDE>::NONE.to_word()),
        }
    }

    pub(crate) fn get(&self) -> Position<ALL_WIDE> {
        // ORDERING: Relaxed: only the consumer writes it, and the calls of consumers are ordered;
        // `is_empty` of another thread compares it, and follows no address from it.
        Position::from_word(self.word.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, head: Position<ALL_WIDE>) {
        // ORDERING: Relaxed: see `get`.
        self.word.store(head.to_word(), Ordering::Relaxed);
    }

    /// Goes to `to` when what this returns is dropped: also if a sink panics.
    pub(crate) const fn moved(&self, to: Position<ALL_WIDE>) -> Moved<'_, ALL_WIDE> {
        Moved { head: self, to }
    }

    /// Makes the slots before `end` claimable again, in place, if all of them are emptied and `end`
    /// is still the tail. So a short queue stays in one block and does not allocate.
    ///
    /// # Safety
    /// The caller is the consumer; `end` was the head, or was acquired from the tail.
    #[inline(never)]
    pub(crate) unsafe fn rewind<T>(
        &self,
        producers: &Producers<T, ALL_WIDE>,
        end: Position<ALL_WIDE>,
    ) {
        // The second look saves a compare-exchange that would fail, and saves the producers a line.
        if self.get() != end || producers.snapshot() != end {
            return;
        }
        let block = Block::<T>::at(end.block());
        // SAFETY: the head's block is live; the caller is the consumer, and everything before the
        // head is emptied.
        let start = unsafe {
            block.clear_from(end.left());
            block.start()
        };
        if producers.rewind(end, start) {
            self.set(start);
        }
    }
}

/// An event that is being moved out. If the sink panics, the drop stores that the event is gone.
pub(crate) struct Moved<'a, const ALL_WIDE: bool> {
    head: &'a Head<ALL_WIDE>,
    to: Position<ALL_WIDE>,
}

impl<const ALL_WIDE: bool> Drop for Moved<'_, ALL_WIDE> {
    fn drop(&mut self) {
        self.head.set(self.to);
    }
}
