//! The system's allocator, with a counter of the memory in use. It can run short of memory for a
//! thread that asks for that.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};

/// The sizes that a thread short of memory is refused: pages of a table and rings of deques. Not
/// the blocks of a global queue, which are reserved in advance, but not for one process: another
/// thread may take the last one, and then it is too late to refuse the process.
const REFUSED: usize = 4 << 10;

/// The bytes of a block of a global queue, with its link in the slab. Pages of blocks have a head
/// of [`PAGE_HEAD`] bytes, and are recognised by their size.
const QUEUE_BLOCK: usize = 2056;

const PAGE_HEAD: usize = 8;

const fn is_refused(size: usize) -> bool {
    size >= REFUSED && !(size - PAGE_HEAD).is_multiple_of(QUEUE_BLOCK)
}

thread_local! {
    static IS_SHORT: Cell<bool> = const { Cell::new(false) };
}

/// Counts the requested bytes, without what the allocator adds.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static BYTES: AtomicI64 = AtomicI64::new(0);

fn count(bytes: i64) {
    // ORDERING: Relaxed: a figure; nothing is read through it.
    BYTES.fetch_add(bytes, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came, or gets nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is about to end is not refused anything.
        let is_short = IS_SHORT.try_with(Cell::get).unwrap_or(false);
        if is_short && is_refused(layout.size()) {
            return ptr::null_mut();
        }
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

/// Does the work while the calling thread is short of memory, or is not.
pub(crate) fn while_short<R>(is_short: bool, work: impl FnOnce() -> R) -> R {
    /// Puts back the state before, even if `work` unwinds.
    struct Restore(bool);

    impl Drop for Restore {
        fn drop(&mut self) {
            IS_SHORT.set(self.0);
        }
    }

    let _restore = Restore(IS_SHORT.replace(is_short));
    work()
}
