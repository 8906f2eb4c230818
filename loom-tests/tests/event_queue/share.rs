//! Drains that stop after a share of the events.

use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes};

use crate::block_pool::check;
use crate::queue::Queue;

/// Two events are in the queue; a thread pushes two more while the consumer takes one at a time, as often as it is told that there is
/// more. Blocks of two: it stops in the middle of a block, at its end, and where the next one is being installed.
///
/// It has had what was there when it began, in order; and a last drain has the rest. An answer of "no more" that was wrong would
/// show as one of the first two missing; a place that was lost, as an event that comes twice, or never, or as a block that leaks.
#[test]
fn a_share_at_a_time_beside_pushes() {
    let outcomes = Outcomes::new();
    check(
        "shares end where there was no more, and the next drain goes on from there",
        Bound::exhaustive(1_300),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>, 2>::new();
                queue.push(Arc::new(1)).unwrap();
                queue.push(Arc::new(2)).unwrap();
                let producer = thread::spawn({
                    let queue = queue.clone();
                    move || {
                        queue.push(Arc::new(3)).unwrap();
                        queue.push(Arc::new(4)).unwrap();
                    }
                });
                let mut events = Vec::new();
                while queue.drain_up_to(1, |event| events.push(*event)) {
                    // A push may be under way in what is left.
                    thread::yield_now();
                }
                let shares = events.len();
                producer.join().unwrap();
                queue.drain_into(|event| events.push(*event));
                assert_eq!(events, [1, 2, 3, 4]);
                assert!(queue.is_empty());
                outcomes.observe(shares);
            }
        },
    );
    outcomes.assert_exactly([2, 3, 4]);
}

/// A claims the first slot and perhaps stalls; the consumer, behind it, takes its two shares of what the main thread has pushed, and
/// stops in between, with a hole behind it. A's event comes then, or at the end, and the others once, and in order. With one slot per block:
/// what is emptied behind the hole is freed in the middle of it all.
#[test]
fn a_share_leaves_a_stalled_push_behind() {
    let outcomes = Outcomes::new();
    check(
        "a share that ends behind a hole does not lose it",
        Bound::exhaustive(4_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>, 1>::new();
                let stalled = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(Arc::new(1)).unwrap()
                });
                for event in [2, 3] {
                    queue.push(Arc::new(event)).unwrap();
                }
                let mut events = Vec::new();
                for _ in 0..2 {
                    queue.drain_up_to(1, |event| events.push(*event));
                }
                stalled.join().unwrap();
                queue.drain_into(|event| events.push(*event));
                assert!(queue.is_empty());
                outcomes.observe(events);
            }
        },
    );
    outcomes.assert_exactly([vec![1, 2, 3], vec![2, 1, 3], vec![2, 3, 1]]);
}
