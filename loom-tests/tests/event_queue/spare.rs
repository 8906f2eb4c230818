//! The block that is kept for reuse, and blocks of different sizes.

use filch_models::Bound;
use filch_sync::Arc;

use super::queue::{Queue, drain_beside_two, interleavings, producer};

/// Two producers cross a boundary each, while the consumer drains: it keeps the block that it
/// leaves, and each of the two may take that, or miss it and ask the allocator. A block that two
/// threads get would show as a race on its slots, a lost one as a leak.
#[test]
fn a_spare_block_goes_to_one_producer() {
    Bound::preemptions(2, 14_000)
        .outcomes(
            "a spare block is taken once, and its slots are claimable again without a race",
            || {
                let queue = Queue::<u32, 1>::new();
                queue.push(1).unwrap();
                queue.push(2).unwrap();
                let events = drain_beside_two(&queue, [30, 40], |event| event, 1);
                assert_eq!(events[..2], [1, 2]);
                events[2..].to_vec()
            },
        )
        .assert_exactly(interleavings([30, 40]));
}

/// The consumer gives the spare block and the tail's block back, while a producer may take the one
/// and claim a slot in the other.
#[test]
fn a_spare_block_is_freed_or_taken() {
    Bound::preemptions(4, 2_300)
        .outcomes(
            "shrinking and a push that needs a block do not both get the spare one",
            || {
                let queue = Queue::<Arc<u32>, 1>::new();
                // Three blocks, of which one is spare, and the last is the tail's.
                for event in 0..3 {
                    queue.push(Arc::new(event)).unwrap();
                }
                assert_eq!(queue.drain().len(), 3);
                let producer = producer(&queue, (3..5).map(Arc::new));
                let freed = queue.shrink();
                let mut events = queue.drain_numbers();
                producer.join().unwrap();
                events.extend(queue.drain_numbers());
                assert_eq!(events, [3, 4]);
                assert!(queue.shrink());

                freed
            },
        )
        .assert_exactly([false, true]);
}

/// The first block has one slot, the next ones have two. A producer that slept while the first was
/// used up, and freed by a shrink, finds the word as it was, or another block there.
#[test]
fn blocks_of_two_sizes() {
    Bound::preemptions(3, 900)
        .outcomes(
            "events keep their order from small blocks to larger ones",
            || {
                let queue = Queue::<u32, 2>::with_first(1);
                let producer = producer(&queue, 10..13);
                queue.push(20).unwrap();
                let mut events = queue.drain();
                let early = events.len();
                queue.shrink();
                producer.join().unwrap();
                events.extend(queue.drain());
                let place = events.iter().position(|event| *event == 20).unwrap();
                events.remove(place);
                assert_eq!(events, [10, 11, 12]);
                (early, place)
            },
        )
        .assert_exactly([
            (1, 0),
            (2, 0),
            (3, 0),
            (4, 0),
            (2, 1),
            (3, 1),
            (4, 1),
            (3, 2),
            (4, 2),
            (4, 3),
        ]);
}

/// Three claims of the same word: one fails at least once, and one may fail twice, and each waits
/// before it tries again. All orders are reached, so no wait hides a schedule.
#[test]
fn three_claims_of_one_word() {
    Bound::preemptions(4, 16_000)
        .outcomes("three pushes arrive in any order", || {
            let queue = Queue::<u32, 3>::new();
            let others = [1, 2].map(|event| producer(&queue, [event]));
            queue.push(3).unwrap();
            for other in others {
                other.join().unwrap();
            }
            queue.drain()
        })
        .assert_exactly([
            vec![1, 2, 3],
            vec![1, 3, 2],
            vec![2, 1, 3],
            vec![2, 3, 1],
            vec![3, 1, 2],
            vec![3, 2, 1],
        ]);
}
