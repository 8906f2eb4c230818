//! The event queue with large events. (`destructors.rs` of the crate has the other tests.)

use filch_event_queue::EventQueue;
use hostile_tests::on_a_small_stack;

#[test]
fn blocks_of_large_events_fit_a_small_stack() {
    // A channel-sized block would have half a megabyte.
    on_a_small_stack(256 << 10, || {
        let queue = EventQueue::<[u8; 8192]>::with_blocks(64, 64);
        for number in 0..200 {
            queue.push([number; 8192]).unwrap();
        }
        let mut next = 0;
        // SAFETY: nobody else consumes.
        unsafe {
            queue.drain(|event| {
                assert_eq!(event[8191], next);
                next += 1;
            });
        }
        assert_eq!(next, 200);
    });
}
