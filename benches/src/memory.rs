//! How much memory is in use: the system's allocator, with a counter that is on only while memory
//! is measured.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// Counts the bytes that are asked for, not what the allocator adds to them.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static ON: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicI64 = AtomicI64::new(0);

fn count(bytes: i64) {
    // ORDERING: Relaxed: figures; nothing is read through them. While the counter is off, a clean
    // line is read and none is written.
    if ON.load(Ordering::Relaxed) {
        BYTES.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The bytes that `work` leaves in use, and its result, which holds them.
pub(crate) fn left_in_use<R>(work: impl FnOnce() -> R) -> (R, i64) {
    BYTES.store(0, Ordering::Relaxed);
    ON.store(true, Ordering::Relaxed);
    let holder = work();
    ON.store(false, Ordering::Relaxed);
    (holder, BYTES.load(Ordering::Relaxed))
}
