//! The sink of a drain may push to the queue whose events it is given, and it may panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use filch_event_queue::EventQueue;

/// Each event except the last brings the next one. A drain that finds one event makes no pass, and
/// would rewind its block; here it goes on instead. It leaves the new event to the next drain, and
/// each event comes once, in order.
#[test]
fn a_sink_that_pushes_finds_its_event_in_the_next_drain() {
    for first in 1..=3 {
        let queue = EventQueue::with_blocks(first, 2);
        // The first drain finds the queue's first block, and rewinds it.
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

/// The only event of a queue makes no pass, so its panic is told by other means.
#[test]
fn a_sink_that_panics_has_had_the_only_event() {
    for first in 1..=3 {
        let queue = EventQueue::with_blocks(first, 2);
        for event in 0..5 {
            // After this the block is as new.
            queue.push(99).unwrap();
            // SAFETY: nobody else consumes.
            assert_eq!(unsafe { queue.drain(drop) }, 1);
            queue.push(event).unwrap();
            let mut seen = None;
            let panics = AssertUnwindSafe(|| {
                // SAFETY: nobody else consumes.
                unsafe {
                    queue.drain(|event| {
                        seen = Some(event);
                        panic!("of the sink");
                    })
                }
            });
            assert!(catch_unwind(panics).is_err());
            assert_eq!(seen, Some(event));
            assert!(queue.is_empty(), "the event would come twice");
        }
    }
}
