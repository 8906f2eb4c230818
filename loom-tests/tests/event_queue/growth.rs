//! Blocks that grow: each has twice as many slots as the one before, and one.

use filch_models::Bound;
use filch_sync::Arc;

use super::block_pool::large_blocks;
use super::queue::{
    Queue, drain_behind_a_slot_in_flight, drain_beside_two, interleavings, numbers, producer,
};

/// Two producers push two events each, into a queue with one slot left in its block, which they
/// claim, and pass to a larger block. The consumer drains meanwhile. A claim that does not release
/// would lead to a block without its `prev`.
#[test]
fn from_a_block_to_a_larger_one() {
    Bound::preemptions(2, 1_900)
        .outcomes(
            "a larger block follows, and events keep their order",
            || {
                let queue = Queue::<Arc<u32>, 4>::with_first(2);
                queue.push(Arc::new(0)).unwrap();
                let events = numbers(&drain_beside_two(&queue, [30, 40], Arc::new, 1));
                assert_eq!(events[0], 0);
                events[1..].to_vec()
            },
        )
        .assert_exactly(interleavings([30, 40]));
}

/// A producer has claimed the last slot of a block, and perhaps not filled it, while the consumer
/// empties slots of the larger block behind it. Then it begins again at the slot in flight.
#[test]
fn a_slot_in_flight_before_a_larger_block() {
    Bound::exhaustive(120_000)
        .some_outcomes(
            "what is taken behind a slot in flight is taken once, in a larger block too",
            || {
                let queue = Queue::<Arc<u32>, 4>::with_first(1);
                drain_behind_a_slot_in_flight(&queue, &[&[2], &[3]])
            },
        )
        .assert_exactly([
            (vec![1, 2, 3], vec![]),
            (vec![2, 1, 3], vec![]),
            (vec![2, 3], vec![1]),
        ]);
}

/// The one slot that a queue begins with is full, and two producers push behind it. Both bring a
/// block, and one finds that the other was faster. Failure: the loser has used up the size of three
/// slots, the winner's block is larger, and it stays, in each of a million queues where two events
/// once met.
#[test]
fn a_lost_installation_costs_no_large_block() {
    Bound::exhaustive(65)
        .outcomes(
            "the second block is small, whichever producer brings it",
            || {
                let queue = Queue::<u32, 7>::with_first(1);
                queue.push(1).unwrap();
                let other = producer(&queue, [2]);
                queue.push(3).unwrap();
                other.join().unwrap();
                assert_eq!(large_blocks(), 0);
                let outcome = queue.drain();
                // Of three slots there is one block: what follows it is larger.
                (0..4).for_each(|event| queue.push(event).unwrap());
                assert_eq!(large_blocks(), 1);
                assert!(queue.drain().into_iter().eq(0..4));

                outcome
            },
        )
        .assert_exactly([vec![1, 2, 3], vec![1, 3, 2]]);
}

/// The owner shrinks a queue whose second block has come, while a push may claim a slot there. If
/// the block is given back, the queue begins anew, with blocks of one slot and of three. If not, it
/// is not to forget that it has had these. Failure: it has another one of three slots, or none.
#[test]
fn a_shrink_that_fails_forgets_nothing() {
    Bound::exhaustive(25)
        .outcomes(
            "sizes begin anew with a shrink that leaves nothing, and only then",
            || {
                let queue = Queue::<u32, 7>::with_first(1);
                (0..2).for_each(|event| queue.push(event).unwrap());
                assert_eq!(queue.drain(), [0, 1]);
                let other = producer(&queue, [2]);
                let freed = queue.shrink();
                other.join().unwrap();
                // Of the small blocks' slots one is used: of 1 + 3, or two, of 3.
                let rest = if freed { 3 } else { 1 };
                (0..rest).for_each(|event| queue.push(3 + event).unwrap());
                assert_eq!(large_blocks(), 0);
                queue.push(3 + rest).unwrap();
                assert_eq!(large_blocks(), 1);
                assert!(queue.drain().into_iter().eq(2..4 + rest));
                freed
            },
        )
        .assert_exactly([false, true]);
}
