//! Counts what a queue allocates. One test only: the counter is the process's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use filch_event_queue::{EventQueue, channel};

struct Counting;

/// Of blocks, ever. The test harness allocates, too, on another thread.
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
/// Live ones.
static BLOCKS: AtomicUsize = AtomicUsize::new(0);

/// Nothing else that comes and goes meanwhile has the alignment of a block of [`Event`]s.
fn is_block(layout: Layout) -> bool {
    layout.align() == 32
}

/// Aligned more than a small block has to be, so that its blocks are known by that.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
struct Event([u64; 4]);

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // ORDERING: Relaxed, here and below: counters.
        ALLOCATIONS.fetch_add(usize::from(is_block(layout)), Ordering::Relaxed);
        BLOCKS.fetch_add(usize::from(is_block(layout)), Ordering::Relaxed);
        // SAFETY: as ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BLOCKS.fetch_sub(usize::from(is_block(layout)), Ordering::Relaxed);
        // SAFETY: as ours.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> usize {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// Counts the blocks of a channel that keeps so many events.
fn blocks_of_channel<T: Copy + Send>(event: T, count: usize) -> usize {
    let before = allocations();
    let (sender, _receiver) = channel();
    (0..count).for_each(|_| assert!(sender.push(event).is_ok()));
    allocations() - before
}

/// Of what is repeated where blocks are reused.
const ROUNDS: u64 = if cfg!(miri) { 20 } else { 1000 };
/// Of each thread of a burst.
const BURST: u64 = if cfg!(miri) { 200 } else { 10_000 };

#[test]
fn memory() {
    // The harness has a channel, which std aligns like this on 32-bit Arm.
    BLOCKS.store(0, Ordering::Relaxed);
    let before = allocations();
    let queue = EventQueue::<Event>::new();
    // SAFETY: here and below: one thread.
    assert_eq!(unsafe { queue.pop() }, None);
    // SAFETY: one thread.
    assert_eq!(unsafe { queue.drain(drop) }, 0);
    assert_eq!(allocations(), before, "an idle queue owns no block");

    for round in 0..ROUNDS {
        queue.push(Event([round; 4])).unwrap();
        // SAFETY: one thread.
        assert_eq!(unsafe { queue.pop() }, Some(Event([round; 4])));
    }
    for round in 0..ROUNDS {
        for event in 0..=round % 2 {
            queue.push(Event([event; 4])).unwrap();
        }
        // SAFETY: one thread.
        unsafe { queue.drain(drop) };
    }
    assert_eq!(
        allocations(),
        before + 2,
        "a short queue lives in one block, of one slot or of three"
    );

    for _ in 0..ROUNDS {
        for event in 0..100 {
            queue.push(Event([event; 4])).unwrap();
            if event % 10 == 9 {
                // SAFETY: one thread.
                unsafe { queue.drain(drop) };
            }
        }
    }
    assert!(
        allocations() <= before + 7,
        "with a consumer that keeps up, blocks of 1, 3, 7, 15, 31 slots come, and two large ones"
    );

    // SAFETY: one thread.
    assert!(unsafe { queue.shrink() });
    assert_eq!(BLOCKS.load(Ordering::Relaxed), 0, "shrunk to nothing");

    let before = allocations();
    for _ in 0..1000 {
        queue.push(Event([0; 4])).unwrap();
    }
    assert!(
        cfg!(target_pointer_width = "32") || allocations() - before <= 1000 / 40,
        "a backlog costs one block for forty events or more of this size"
    );
    // SAFETY: one thread.
    assert_eq!(unsafe { queue.drain(drop) }, 1000);
    assert!(
        BLOCKS.load(Ordering::Relaxed) <= 2,
        "after a backlog the tail's block and a spare are left"
    );
    drop(queue);
    assert_eq!(BLOCKS.load(Ordering::Relaxed), 0, "nothing is leaked");

    // The first block has one slot, the second three: one event at a time needs one allocation, two
    // at a time need two, and no more.
    let before = allocations();
    let queue = EventQueue::<Event>::new();
    for (waiting, blocks) in [(1, 1), (2, 2), (3, 2)] {
        for _ in 0..ROUNDS {
            for event in 0..waiting {
                queue.push(Event([event; 4])).unwrap();
            }
            let mut drained = Vec::new();
            // SAFETY: one thread.
            unsafe { queue.drain(|Event([event, ..])| drained.push(event)) };
            assert!(drained.into_iter().eq(0..waiting));
        }
        assert_eq!(allocations() - before, blocks, "{waiting} waiting at most");
        assert_eq!(BLOCKS.load(Ordering::Relaxed), 1, "the last one");
    }
    drop(queue);

    // The same by `pop`. A shrink that leaves nothing has it begin anew: 1 + 3 slots, and then
    // seven.
    let queue = EventQueue::<Event>::new();
    for _ in 0..3 {
        let before = allocations();
        for event in 0..ROUNDS {
            queue.push(Event([event; 4])).unwrap();
            // SAFETY: one thread.
            assert_eq!(unsafe { queue.pop() }, Some(Event([event; 4])));
        }
        assert_eq!(allocations() - before, 1, "one event at a time");
        for (event, blocks) in [1, 2, 2, 2, 3].into_iter().enumerate() {
            queue.push(Event([event as u64; 4])).unwrap();
            assert_eq!(allocations() - before, blocks, "event {event}");
        }
        // SAFETY: one thread.
        assert!(unsafe { queue.drain(drop) == 5 && queue.shrink() });
    }
    drop(queue);

    // A channel begins with a large block, and then come larger ones; of large events, much larger.
    let event = Event([0; 4]);
    for (blocks, most, what) in [
        (blocks_of_channel(event, 40), 1, "the first block"),
        (blocks_of_channel(event, 1000), 11, "a backlog"),
        (blocks_of_channel([event; 3], 1000), 11, "large events"),
    ] {
        let is_narrow = cfg!(target_pointer_width = "32");
        assert!(is_narrow || blocks <= most, "{what}: {blocks} blocks");
    }
    assert_eq!(BLOCKS.load(Ordering::Relaxed), 0, "channels leak nothing");

    // A burst from several threads, crossing many blocks: they are freed by the thread that drains.
    let queue = EventQueue::<Event>::new();
    thread::scope(|scope| {
        let mut drained = 0;
        for _ in 0..4 {
            scope.spawn(|| (0..BURST).for_each(|event| queue.push(Event([event; 4])).unwrap()));
        }
        while drained < 4 * BURST as usize {
            // SAFETY: this thread alone consumes.
            drained += unsafe { queue.drain(drop) };
        }
    });
    // SAFETY: one thread is left.
    assert!(unsafe { queue.shrink() });
    assert_eq!(BLOCKS.load(Ordering::Relaxed), 0, "every block is freed");
}
