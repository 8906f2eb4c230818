//! An allocator that counts, for the test programs with this module; and their processes' protocol.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use filch_scheduler::Protocol;

struct Counting;

/// Bytes in use.
pub(crate) static BYTES: AtomicI64 = AtomicI64::new(0);

/// The number of allocations.
pub(crate) static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // ORDERING: Relaxed, here and below: figures.
        CALLS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as ours.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

pub(crate) enum Words {}

impl Protocol for Words {
    type Input = ();
    type Message = u64;
    type Command = ();
    type Reply = u64;
    type Output = u64;
    type Error = String;
}
