//! An allocator that counts, and refuses on request.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(0) };
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The system's allocator, with an account for each thread.
#[derive(Debug)]
pub struct Ledger;

// SAFETY: it passes every call on to the system's allocator, or refuses it. The accounts are cells
// without destructors, so they allocate nothing.
unsafe impl GlobalAlloc for Ledger {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.set(LARGEST.get().max(layout.size()));
        if layout.size() >= LIMIT.get() {
            return ptr::null_mut();
        }
        // SAFETY: the caller's.
        let memory = unsafe { System.alloc(layout) };
        if !memory.is_null() {
            HELD.set(HELD.get() + layout.size() as isize);
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size() as isize);
        // SAFETY: the caller's.
        unsafe { System.dealloc(memory, layout) };
    }
}

/// Returns the bytes that the calling thread has allocated and not given back.
pub fn held() -> isize {
    HELD.get()
}

/// Runs `code`; also returns the largest piece that the thread asked for meanwhile.
pub fn largest<R>(code: impl FnOnce() -> R) -> (R, usize) {
    LARGEST.set(0);
    let result = code();
    (result, LARGEST.get())
}

/// Runs `code` while the allocator refuses the calling thread `limit` bytes or more.
pub fn refusing<R>(limit: usize, code: impl FnOnce() -> R) -> R {
    /// Ends the refusals, even if `code` panics.
    struct Restore(usize);

    impl Drop for Restore {
        fn drop(&mut self) {
            LIMIT.set(self.0);
        }
    }

    let _restore = Restore(LIMIT.replace(limit));
    code()
}
