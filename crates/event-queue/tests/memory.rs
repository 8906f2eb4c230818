//! What a queue allocates, counted. One test, as the counter is the process's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use filch_event_queue::EventQueue;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // ORDERING: Relaxed, here and below: counters.
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: as ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as ours.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> usize {
    ALLOCATIONS.load(Ordering::Relaxed)
}

#[test]
fn memory() {
    let (before, bytes) = (allocations(), BYTES.load(Ordering::Relaxed));
    let queue = EventQueue::<[u64; 4]>::new();
    // SAFETY: here and below: one thread.
    assert_eq!(unsafe { queue.pop() }, None);
    // SAFETY: one thread.
    assert_eq!(unsafe { queue.drain(drop) }, 0);
    assert_eq!(allocations(), before, "an idle queue owns no block");

    for round in 0..1000 {
        queue.push([round; 4]).unwrap();
        // SAFETY: one thread.
        assert_eq!(unsafe { queue.pop() }, Some([round; 4]));
    }
    for round in 0..1000 {
        for event in 0..=round % 4 {
            queue.push([event; 4]).unwrap();
        }
        // SAFETY: one thread.
        unsafe { queue.drain(drop) };
    }
    assert_eq!(
        allocations(),
        before + 1,
        "a short queue lives in one block"
    );

    // SAFETY: one thread.
    assert!(unsafe { queue.shrink() });
    assert_eq!(BYTES.load(Ordering::Relaxed), bytes, "shrunk to nothing");

    let before = allocations();
    for _ in 0..80 {
        queue.push([0; 4]).unwrap();
    }
    assert_eq!(allocations(), before + 10, "one block for eight events");
    drop(queue);
    assert_eq!(BYTES.load(Ordering::Relaxed), bytes, "nothing is leaked");
}
