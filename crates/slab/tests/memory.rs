//! A dropped slab frees all its memory: pages, directories, and a page that could not be finished.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::{catch_unwind, resume_unwind};

use filch_slab::Slab;

thread_local! {
    /// The bytes that this thread has allocated and not given back.
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: it passes every call on to the system's allocator, and allocates nothing while it counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.set(LIVE.get() + layout.size() as isize);
        // SAFETY: the caller's promises, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size() as isize);
        // SAFETY: the caller's promises, passed on.
        unsafe { System.dealloc(block, layout) };
    }
}

/// Runs `work`, and returns the bytes that it left allocated.
fn left_by(work: impl Fn()) -> isize {
    // The first run allocates memory that the process keeps.
    work();
    let before = LIVE.get();
    work();
    LIVE.get() - before
}

/// A value that fills a page: from the second on, they are behind directories.
type Large = MaybeUninit<[u8; 1 << 16]>;

#[test]
fn a_slab_gives_all_of_its_memory_back() {
    let left = left_by(|| {
        let small = Slab::new(Box::new);
        let large = Slab::<Large>::in_place(|_, place| place.write(Large::uninit()), u32::MAX);
        let before = LIVE.get();
        for _ in 0..10 {
            small.allocate().unwrap();
            large.allocate().unwrap();
        }
        assert!(LIVE.get() - before > 10 << 16, "the pages are counted");
    });
    assert_eq!(left, 0, "bytes leaked");
}

#[test]
fn a_page_that_is_not_finished_leaves_nothing() {
    let left = left_by(|| {
        let slab = Slab::new(|index| {
            if index == 2 {
                // No message, as the harness would allocate for one.
                resume_unwind(Box::new("refused"));
            }
            Box::new(index)
        });
        slab.allocate().unwrap();
        catch_unwind(|| slab.allocate().map(drop)).unwrap_err();
    });
    assert_eq!(left, 0, "bytes leaked");
}
