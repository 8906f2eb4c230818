//! Wide blocks, with the fewest slots that make one wide: 4. A model that uses one up pushes most
//! of the events before the race.

use filch_sync::Arc;
use loom_tests::{Bound, Outcomes};

use crate::block_pool::{check, wide_blocks};
use crate::queue::{
    Queue, drain_behind_a_hole, drain_beside_two, interleavings, numbers, producer,
};

/// Two producers push two events each, into a queue with one slot left in its block, which they
/// claim, and pass to another block. The consumer drains meanwhile. A word that is read in
/// the other format would lead to no block, or to the wrong slot; a claim that does not release
/// would lead to a block without its `prev`.
fn two_producers_cross(story: &'static str, before: u32, least: u64) {
    let outcomes = Outcomes::new();
    check(story, Bound::preemptions(2, least), {
        let outcomes = outcomes.clone();
        move || {
            let queue = Queue::<Arc<u32>, 4>::with_first(2);
            for event in 0..before {
                queue.push(Arc::new(event)).unwrap();
            }
            let events = numbers(&drain_beside_two(&queue, [30, 40], Arc::new, 1));
            let (first, raced) = events.split_at(before as usize);
            assert!(first.iter().copied().eq(0..before));
            outcomes.observe(raced.to_vec());
        }
    });
    outcomes.assert_exactly(interleavings([30, 40]));
}

#[test]
fn from_a_narrow_block_to_a_wide_one() {
    two_producers_cross(
        "a wide block follows a narrow one, and events keep their order",
        1,
        1_900,
    );
}

#[test]
fn from_a_wide_block_to_another() {
    two_producers_cross(
        "a wide block follows another, and events keep their order",
        5,
        1_900,
    );
}

/// A producer has claimed the last slot of a narrow block, and perhaps not filled it, while the
/// consumer empties slots of the wide block behind it. Then it begins again at the hole.
#[test]
fn a_hole_before_a_wide_block() {
    let outcomes = Outcomes::new();
    check(
        "what is taken behind a hole is taken once, in a wide block too",
        Bound::exhaustive(3_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>, 4>::with_first(1);
                if let Some(outcome) = drain_behind_a_hole(&queue, &[&[2], &[3]]) {
                    outcomes.observe(outcome);
                }
            }
        },
    );
    outcomes.assert_exactly([
        (vec![1, 2, 3], vec![]),
        (vec![2, 1, 3], vec![]),
        (vec![2, 3], vec![1]),
    ]);
}

/// The one slot that a queue begins with is full, and two producers push behind it. Both bring a
/// block, and one finds that the other was faster. Failure: the loser has used up the small size,
/// the winner's block is wide, and it stays, in each of a million queues where two events once met.
#[test]
fn a_lost_installation_costs_no_wide_block() {
    let outcomes = Outcomes::new();
    check(
        "the second block is small, whichever producer brings it",
        Bound::exhaustive(65),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32, 1>::with_one_slot();
                queue.push(1).unwrap();
                let other = producer(&queue, [2]);
                queue.push(3).unwrap();
                other.join().unwrap();
                assert_eq!(wide_blocks(), 0);
                outcomes.observe(queue.drain());
                // There is one small block: what follows it is large.
                (0..20).for_each(|event| queue.push(event).unwrap());
                assert_eq!(wide_blocks(), 1);
                assert!(queue.drain().into_iter().eq(0..20));
            }
        },
    );
    outcomes.assert_exactly([vec![1, 2, 3], vec![1, 3, 2]]);
}

/// The owner shrinks a queue whose second block has come, while a push may claim a slot there. If
/// the block is given back, the queue begins anew, with one slot and a small block. If not, it is
/// not to forget that it has had the small one. Failure: it has a second small block, or none.
#[test]
fn a_shrink_that_fails_forgets_nothing() {
    let outcomes = Outcomes::new();
    check(
        "there is one small second block from shrink to shrink",
        Bound::exhaustive(25),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32, 1>::with_one_slot();
                (0..2).for_each(|event| queue.push(event).unwrap());
                assert_eq!(queue.drain(), [0, 1]);
                let other = producer(&queue, [2]);
                let freed = queue.shrink();
                other.join().unwrap();
                // Of the small blocks' slots one is used: of 1 + 3, or two, of 3.
                let rest = if freed { 3 } else { 1 };
                (0..rest).for_each(|event| queue.push(3 + event).unwrap());
                assert_eq!(wide_blocks(), 0);
                queue.push(3 + rest).unwrap();
                assert_eq!(wide_blocks(), 1);
                assert!(queue.drain().into_iter().eq(2..4 + rest));
                outcomes.observe(freed);
            }
        },
    );
    outcomes.assert_exactly([false, true]);
}
