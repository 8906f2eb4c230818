//! Drains that stop after a share of the events.

use filch_models::Bound;
use filch_sync::{Arc, thread};

use super::queue::{Queue, producer};

/// Events up to `before` are there. A producer pushes those up to `all`, while the consumer takes
/// one at a time until it is told that there are no more. Returns how many it had by then.
fn one_at_a_time(before: u32, all: u32) -> usize {
    let queue = Queue::<Arc<u32>, 2>::new();
    // A queue that has had an event has a block, and its head is in there.
    queue.push(Arc::new(0)).unwrap();
    queue.drain();
    for event in 1..=before {
        queue.push(Arc::new(event)).unwrap();
    }
    let producer = producer(&queue, (before + 1..=all).map(Arc::new));
    let mut events = Vec::new();
    loop {
        let so_far = events.len();
        let more = queue.drain_up_to(1, |event| events.push(*event));
        assert!(events.len() <= so_far + 1, "more than its share");
        if !more {
            break;
        }
        assert!(events.len() < all as usize, "there cannot be more");
        // A push may be under way in what is left.
        thread::yield_now();
    }
    let shares = events.len();
    producer.join().unwrap();
    queue.drain_into(|event| events.push(*event));
    let more = queue.drain_up_to(1, |event| events.push(*event));
    assert!(!more && queue.is_empty());
    assert!(events.iter().copied().eq(1..=all), "{events:?}");
    shares
}

/// Two events are in the queue; a thread pushes two more while the consumer takes one at a time, as
/// often as it is told that there is more. Blocks of two: it stops in the middle of a block, at its
/// end, and where the next one is being installed.
///
/// By then it has had the events that were there when it began, in order, and a last drain has the
/// rest. A wrong answer of "no more" would show as one of the first two missing; a lost place as an
/// event that comes twice or never, or as a block that leaks.
#[test]
fn a_share_at_a_time_beside_pushes() {
    Bound::exhaustive(1_300)
        .outcomes(
            "shares end where there was no more, and the next drain goes on from there",
            || one_at_a_time(2, 4),
        )
        .assert_exactly([2, 3, 4]);
}

/// One event is there, the only one of its block: the share rewinds the block, while a producer
/// pushes the second. Failure: as above, where a share needs no scan.
#[test]
fn a_share_of_all_there_is_beside_a_push() {
    Bound::exhaustive(30)
        .outcomes(
            "a share that is all there is rewinds the block, or goes on behind it",
            || one_at_a_time(1, 2),
        )
        .assert_exactly([1, 2]);
}

/// A claims the first slot and perhaps stalls. The main thread pushes two events behind it, and
/// takes them in two shares, with a slot in flight before them. A's event comes between, or at the
/// end; the others come once, in order. With one slot per block, the blocks behind it are freed
/// meanwhile.
#[test]
fn a_share_leaves_a_stalled_push_behind() {
    Bound::exhaustive(33_000)
        .outcomes(
            "a share that ends behind a slot in flight does not lose it",
            || {
                let queue = Queue::<Arc<u32>, 1>::new();
                let stalled = producer(&queue, (1..2).map(Arc::new));
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
                events
            },
        )
        .assert_exactly([vec![1, 2, 3], vec![2, 1, 3], vec![2, 3, 1]]);
}
