//! The system's allocator, with a counter of the memory in use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};

/// Counts the requested bytes, without what the allocator adds.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static BYTES: AtomicI64 = AtomicI64::new(0);

fn count(bytes: i64) {
    // ORDERING: Relaxed: a figure; nothing is read through it.
    BYTES.fetch_add(bytes, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        let memory = unsafe { System.alloc(layout) };
        if !memory.is_null() {
            count(layout.size() as i64);
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns the bytes in use.
pub(crate) fn live_bytes() -> i64 {
    BYTES.load(Ordering::Relaxed)
}
