//! Blocks and events of sizes at their limits.

use filch_event_queue::EventQueue;

/// A block has a slot at least, and no more than a word can count, whatever is asked for.
#[test]
fn sizes_have_bounds() {
    for (first, largest) in [(0, 0), (1, 0), (usize::MAX, usize::MAX), (255, 40_000)] {
        let queue = EventQueue::with_blocks(first, largest);
        let events = if cfg!(miri) { 300 } else { 100_000 };
        (0..events).for_each(|event| queue.push(event).unwrap());
        // SAFETY: one thread.
        assert!((0..events).all(|event| unsafe { queue.pop() } == Some(event)));
    }
}

/// Events without a size have places in the queue all the same.
#[test]
fn events_without_a_size() {
    let queue = EventQueue::with_blocks(4, 4);
    for _ in 0..9 {
        queue.push(()).unwrap();
    }
    // SAFETY: one thread.
    assert_eq!(unsafe { queue.pop() }, Some(()));
    // SAFETY: one thread.
    assert_eq!(unsafe { queue.drain(drop) }, 8);
}

/// An event that is aligned more than a block needs to be.
#[test]
fn events_with_a_large_alignment() {
    #[derive(Debug, PartialEq)]
    #[repr(align(256))]
    struct Aligned(u8);

    let queue = EventQueue::new();
    for round in 0..3 {
        for event in 0..20 {
            queue.push(Aligned(event)).unwrap();
        }
        for event in 0..20 {
            // SAFETY: one thread.
            let popped = unsafe { queue.pop() }.unwrap();
            assert_eq!((&raw const popped).addr() % 256, 0);
            assert_eq!(popped, Aligned(event), "round {round}");
        }
    }
}
