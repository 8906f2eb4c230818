//! Memory for items: a thief allocates before its claim, and what is refused changes nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::ptr;

use filch_deque::{NoMemory, Steal, Stealer, Worker};

/// No other value is aligned so, which tells the memory for items from other memory.
#[repr(align(512))]
#[derive(Debug, PartialEq, Eq)]
struct Item(u8);

thread_local! {
    /// The deque that this thread's allocations for items look at.
    static VICTIM: RefCell<Option<Stealer<Item>>> = const { RefCell::new(None) };
    /// The number of items that were left in it at the last of these.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    /// `true` if this thread gets no memory for items.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

struct Looking;

#[global_allocator]
static ALLOCATOR: Looking = Looking;

impl Looking {
    /// Looks, and says whether the memory is refused.
    fn refuses(layout: Layout) -> bool {
        if layout.align() != align_of::<Item>() {
            return false;
        }
        // At the end of a thread it is gone, and there is nothing to look at.
        let _ = VICTIM.try_with(|victim| {
            if let Some(victim) = &*victim.borrow() {
                LEFT.set(Some(victim.len()));
            }
        });
        REFUSED.get()
    }
}

// SAFETY: it passes every call on to the system's allocator or refuses it, and allocates nothing
// while it looks.
unsafe impl GlobalAlloc for Looking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Self::refuses(layout) {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promises, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises, passed on.
        unsafe { System.dealloc(block, layout) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if Self::refuses(layout) {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promises, passed on.
        unsafe { System.realloc(block, layout, size) }
    }
}

/// Those of a deque that is robbed.
const ITEMS: usize = 16;

#[test]
fn stolen_items_find_their_room_before_they_are_taken() {
    for room in [1, 2, 4, 8, 16] {
        let worker: Worker<_> = (0..ITEMS as u8).map(Item).collect();
        let own = Worker::with_capacity(room);
        LEFT.set(None);
        VICTIM.set(Some(worker.stealer()));
        let first = worker.stealer().steal_half_into(&own, ITEMS);
        VICTIM.set(None);
        assert_eq!(first, Steal::Success(Item(0)));
        assert!(own.stealer().len() == ITEMS / 2 - 1);
        // An open claim keeps the ring; an allocator that waits would keep it open.
        let grew = (room < ITEMS / 2).then_some(ITEMS);
        assert_eq!(
            LEFT.get(),
            grew,
            "the items at the last allocation, with {room} slots"
        );
    }
}

#[test]
fn what_there_is_no_memory_for_is_refused() {
    let worker = Worker::with_capacity(4);
    worker.push(Item(0));
    REFUSED.set(true);
    assert_eq!(worker.try_reserve(2), Ok(()));
    let refused = worker.try_reserve(3);
    REFUSED.set(false);
    assert_eq!(refused, Err(NoMemory));
    assert_eq!((worker.len(), worker.capacity()), (1, 4));
    assert_eq!(worker.try_reserve(3), Ok(()));
    assert_eq!(worker.capacity(), 8);
    assert_eq!(worker.pop(), Some(Item(0)));
}

/// A failure: an item is dropped, or lies in the deque as well; or the one push that there is room
/// for is refused.
#[test]
fn an_item_that_there_is_no_memory_for_comes_back() {
    for may_bias in [false, true] {
        let worker = Worker::starting_at(4, 0, may_bias);
        REFUSED.set(true);
        let try_push = |item| worker.try_push(Item(item)).map_err(|refused| refused.0);
        let pushed = [0, 1, 2, 3, 4].map(try_push);
        REFUSED.set(false);
        let refused = [Ok(()), Ok(()), Ok(()), Err(3), Err(4)];
        assert_eq!(pushed, refused, "there is room for one between calls");
        assert_eq!((worker.len(), worker.capacity()), (3, 4));
        assert_eq!(worker.stealer().steal(), Steal::Success(Item(0)));
        // A thief has made room.
        REFUSED.set(true);
        assert_eq!(worker.try_push(Item(3)), Ok(()));
        REFUSED.set(false);
        assert_eq!(worker.try_push(Item(4)), Ok(()));
        assert_eq!(worker.capacity(), 8);
        assert!((1..5).rev().all(|item| worker.pop() == Some(Item(item))));
    }
}

#[test]
fn a_thief_without_memory_takes_what_it_has_room_for() {
    let victim: Worker<_> = (0..ITEMS as u8).map(Item).collect();
    let own = Worker::with_capacity(4);
    REFUSED.set(true);
    let first = victim.stealer().steal_half_into(&own, ITEMS);
    REFUSED.set(false);
    assert_eq!(first, Steal::Success(Item(0)));
    assert_eq!((own.len(), victim.len()), (3, ITEMS - 4));
}
