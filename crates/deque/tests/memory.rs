//! When a thief allocates: never between its claim and the end of its claim.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};

use filch_deque::{Steal, Stealer, Worker};

/// No other value is aligned so, which tells the memory for items from other memory.
#[repr(align(512))]
#[derive(Debug, PartialEq, Eq)]
struct Item(u8);

thread_local! {
    /// The deque that this thread's allocations for items look at.
    static VICTIM: RefCell<Option<Stealer<Item>>> = const { RefCell::new(None) };
    /// How many items were left in it at the last of these.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

struct Looking;

#[global_allocator]
static ALLOCATOR: Looking = Looking;

impl Looking {
    fn look(layout: Layout) {
        if layout.align() != align_of::<Item>() {
            return;
        }
        // At the end of a thread it is gone, and there is nothing to look at.
        let _ = VICTIM.try_with(|victim| {
            if let Some(victim) = &*victim.borrow() {
                LEFT.set(Some(victim.len()));
            }
        });
    }
}

// SAFETY: it passes every call on to the system's allocator, and allocates nothing while it looks.
unsafe impl GlobalAlloc for Looking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::look(layout);
        // SAFETY: the caller's promises, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises, passed on.
        unsafe { System.dealloc(block, layout) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::look(layout);
        // SAFETY: the caller's promises, passed on.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[test]
fn loot_finds_its_room_before_it_is_taken() {
    const ITEMS: usize = 16;
    for room in 0..=ITEMS / 2 {
        let worker: Worker<_> = (0..ITEMS as u8).map(Item).collect();
        let mut loot = Vec::with_capacity(room);
        let room = loot.capacity();
        LEFT.set(None);
        VICTIM.set(Some(worker.stealer()));
        let first = worker.stealer().steal_half_into_vec(&mut loot, ITEMS);
        VICTIM.set(None);
        assert_eq!(first, Steal::Success(Item(0)));
        assert!(loot.iter().map(|item| item.0).eq(1..8), "{loot:?}");
        // An open claim keeps the ring; an allocator that waits would keep it open.
        let grew = (room < ITEMS / 2 - 1).then_some(ITEMS);
        assert_eq!(
            LEFT.get(),
            grew,
            "the items at the last allocation, with room for {room}"
        );
    }
}
