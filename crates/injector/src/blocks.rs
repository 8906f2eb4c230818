//! All blocks of a queue: those in the queue, and those that wait for their next use.

use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;

use filch_slab::{AllocateError, Slab};

use crate::block::Block;
use crate::position::MAX_BLOCKS;

/// The memory of a queue. It never shrinks, so a stale position still leads to a block.
pub(crate) struct Blocks<T, const BLOCK: usize>(Slab<Block<T, BLOCK>>);

impl<T, const BLOCK: usize> Blocks<T, BLOCK> {
    pub(crate) fn new() -> Self {
        Self(Slab::in_place(
            |_, place| Block::construct(place),
            MAX_BLOCKS,
        ))
    }

    /// The block with this number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &Block<T, BLOCK> {
        self.0
            .get(number)
            .expect("a block in the queue was allocated")
    }

    /// Allocates a block for the caller alone, which prepares and links it, or releases it.
    ///
    /// # Panics
    ///
    /// If all of them are in use. Without memory for one more the program ends, as it does when a
    /// `Vec` cannot grow.
    #[inline]
    pub(crate) fn allocate(&self) -> u32 {
        match self.0.allocate() {
            Ok(number) => number,
            Err(AllocateError::Full) => {
                panic!("the injector is full: {MAX_BLOCKS} blocks are in use")
            }
            Err(AllocateError::NoMemory) => handle_alloc_error(Layout::new::<Block<T, BLOCK>>()),
        }
    }

    /// Gets the memory for one more block.
    #[inline]
    pub(crate) fn reserve(&self) -> Result<(), AllocateError> {
        self.0.reserve()
    }

    /// Releases a block that is the caller's alone. Out of line: it happens once per block, and no
    /// push or pop of an item pays for its registers.
    #[cold]
    pub(crate) fn release(&self, number: u32) {
        self.0.release(number);
    }

    /// Counts `shares` of `block` as finished; the last share releases the block. `number` is the
    /// block's.
    #[inline]
    pub(crate) fn finish(&self, number: u32, block: &Block<T, BLOCK>, shares: u32) {
        if block.finish(shares) {
            self.release(number);
        }
    }

    /// Returns the most blocks that were ever in use at once.
    pub(crate) fn high_water(&self) -> u32 {
        self.0.high_water()
    }
}
