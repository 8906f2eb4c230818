//! A deterministic allocator for blocks, on top of another: last freed, first reused.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::{ptr, thread};

/// The alignment of blocks, which nothing else has: that of their events, see
/// [`Event`](super::queue::Event).
const BLOCK_ALIGN: usize = 32;
/// Bytes of a block with three slots, as the checker has them.
const SMALL: usize = 472;
/// Room for any block of the models.
const CHUNK: Layout = match Layout::from_size_align(8192, BLOCK_ALIGN) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

pub(crate) struct BlockPool<A>(pub(crate) A);

// loom runs all threads of a model on one thread of the system.
thread_local! {
    /// The chunk that was freed last; its first word leads to the one before.
    static FREE: Cell<*mut u8> = const { Cell::new(ptr::null_mut()) };
    static LIVE: Cell<usize> = const { Cell::new(0) };
    /// Those with more than three slots.
    static LIVE_LARGE: Cell<usize> = const { Cell::new(0) };
}

/// Asserts, at the end of an execution, that it has left no block behind.
pub(crate) struct NoneLeft;

impl Drop for NoneLeft {
    fn drop(&mut self) {
        if !thread::panicking() {
            assert_eq!(LIVE.get(), 0, "blocks were leaked");
        }
    }
}

/// Returns how many blocks have more than three slots.
pub(crate) fn large_blocks() -> usize {
    LIVE_LARGE.get()
}

fn is_large(layout: Layout) -> bool {
    layout.size() > SMALL
}

fn is_block(layout: Layout) -> bool {
    layout.align() == BLOCK_ALIGN && layout.size() <= CHUNK.size()
}

// SAFETY: chunks are as large and as aligned as the largest layout that gets one; everything else
// is the other allocator's.
unsafe impl<A: GlobalAlloc> GlobalAlloc for BlockPool<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !is_block(layout) {
            // SAFETY: as ours.
            return unsafe { self.0.alloc(layout) };
        }
        LIVE.set(LIVE.get() + 1);
        LIVE_LARGE.set(LIVE_LARGE.get() + usize::from(is_large(layout)));
        let chunk = FREE.get();
        if chunk.is_null() {
            // SAFETY: the size is not zero.
            return unsafe { self.0.alloc(CHUNK) };
        }
        // SAFETY: a free chunk begins with the address of the next.
        FREE.set(unsafe { chunk.cast::<*mut u8>().read() });
        chunk
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if !is_block(layout) {
            // SAFETY: as ours.
            return unsafe { self.0.dealloc(pointer, layout) };
        }
        LIVE.set(LIVE.get() - 1);
        LIVE_LARGE.set(LIVE_LARGE.get() - usize::from(is_large(layout)));
        // SAFETY: the chunk is free, and large enough for an address.
        unsafe { pointer.cast::<*mut u8>().write(FREE.get()) };
        FREE.set(pointer);
    }
}
