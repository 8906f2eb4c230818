//! A block on its way into a queue.

use alloc::alloc::{alloc, handle_alloc_error};
use core::mem;
use core::ptr::NonNull;

use crate::block::Block;
use crate::position::Position;
use crate::shape::Shape;

/// A block that no other thread can reach: new, or taken out of use.
pub(crate) struct NewBlock<T>(Block<T>);

impl<T> NewBlock<T> {
    /// With `slots` slots, all empty.
    pub(crate) fn allocate(slots: usize) -> Self {
        let layout = Shape::<T>::layout(slots);
        // SAFETY: the size is not 0: there is a header.
        let memory = unsafe { alloc(layout) };
        let Some(memory) = NonNull::new(memory) else {
            handle_alloc_error(layout);
        };
        // SAFETY: allocated just now, by that layout.
        Self(unsafe { Block::begin(memory, slots) })
    }

    /// The used block at `address`, made as good as new.
    ///
    /// # Safety
    /// The block is live, and the caller has taken it over from the consumer, which emptied its
    /// slots; no other thread touches it.
    pub(crate) unsafe fn reuse(address: usize) -> Self {
        let block = Block::at(address);
        // SAFETY: as ours.
        unsafe { block.renew() };
        Self(block)
    }

    /// Names the block that this one is to follow, and returns the place before its first slot.
    pub(crate) fn follow<const ALL_WIDE: bool>(&mut self, prev: usize) -> Position<ALL_WIDE> {
        // SAFETY: not published yet, so live, and this thread's alone.
        unsafe { self.0.follow(prev) }
    }

    /// From here on the queue owns the block.
    pub(crate) fn published(self) {
        mem::forget(self);
    }
}

impl<T> Drop for NewBlock<T> {
    fn drop(&mut self) {
        // SAFETY: never published, or taken over; all its slots are empty.
        unsafe { self.0.free() };
    }
}
