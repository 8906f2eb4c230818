//! What a drain's sink may do to the queue that it is given events of: push.

use filch_event_queue::EventQueue;

/// Each event but the last brings the next one. A queue with one event, which is drained without a
/// pass and would start its block over, goes on instead: the new event is left to the next drain,
/// and it and those after it come once, in order.
#[test]
fn a_sink_that_pushes_finds_its_event_in_the_next_drain() {
    for first in 1..=3 {
        let queue = EventQueue::with_blocks(first, 2);
        // The first drain finds the queue's first block, and starts it over.
        queue.push(99).unwrap();
        // SAFETY: nobody else consumes.
        assert_eq!(unsafe { queue.drain(drop) }, 1);
        queue.push(0).unwrap();
        for expected in 0..20 {
            let mut events = Vec::new();
            // SAFETY: nobody else consumes, and the sink only pushes.
            let more = unsafe {
                queue.drain_up_to(1, |event| {
                    queue.push(event + 1).unwrap();
                    events.push(event);
                })
            };
            assert_eq!((events, more), (vec![expected], false));
            assert!(!queue.is_empty());
        }
        let mut events = Vec::new();
        // SAFETY: as above.
        unsafe { queue.drain(|event| events.push(event)) };
        assert_eq!(events, [20]);
        assert!(queue.is_empty());
    }
}
