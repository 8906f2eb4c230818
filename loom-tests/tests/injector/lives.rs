//! Blocks between two lives: each comes back, but not before its last user has left it, and not
//! with a sequence that it has had.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use filch_injector::Injector;
use filch_models::{Bound, Crossing, beside_both};
use filch_sync::thread;
use loom::alloc::Track;

use super::tracked::{assert_delivered, drain, pop, producer, queue, queue_with_backoff};

/// Threads: main has claimed a block of three and left it, and its sink panics, with one item of
/// the batch in its slot; a producer wants a block, and fills all its slots. Main drops the item
/// before it counts the slots. A failure: the slots are counted while the item is still in its
/// slot, so that the producer gets the block and writes where main reads (a causality violation).
#[test]
fn a_claim_that_unwinds_is_emptied_before_it_is_counted() {
    Bound::exhaustive(9).check("a block comes back empty", || {
        let queue = queue::<3>([10, 11, 12, 13, 14, 15]);
        let mut other = None;
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            queue.pop_batch(2, |item| {
                assert_eq!(item.into_inner(), 11);
                // `head` leaves the block: only this batch keeps it.
                assert_eq!(pop(&queue), Some(13));
                other = Some(producer(&queue, &Crossing::new(), &[16, 17, 18]));
                resume_unwind(Box::new("a sink that panics"));
            })
        }));
        assert!(unwound.is_err());
        other.unwrap().join().unwrap();
        assert_eq!(drain(&queue), [14, 15, 16, 17, 18]);
    });
}

/// Threads: main takes, a producer pushes an item into a block of one slot, which main may abandon.
/// Then main pushes and takes alone. A failure: the producer does not count the abandoned slot, so
/// that its block never comes back, and a fourth one is needed.
#[test]
fn the_block_of_an_abandoned_slot_comes_back() {
    Bound::exhaustive(100)
        .outcomes("three blocks are enough", || {
            let queue = queue::<1>([]);
            let crossing = Crossing::new();
            let producer = producer(&queue, &crossing, &[10]);
            crossing.pass();
            let early = pop(&queue);
            producer.join().unwrap();
            assert_eq!(early.or_else(|| pop(&queue)), Some(10));
            for item in 11..15 {
                queue.push(Track::new(item));
                assert_eq!(pop(&queue), Some(item));
            }
            (early, queue.most_blocks())
        })
        .assert_exactly([(None, 2), (Some(10), 2)]);
}

/// Pushes and takes until each block that came back has been used again; then returns the number of
/// blocks.
fn blocks_after_use<const BLOCK: usize>(queue: &Injector<Track<u32>, BLOCK>) -> u32 {
    for item in 0..4 * BLOCK as u32 {
        queue.push(Track::new(item));
        assert_eq!(pop(queue), Some(item));
    }
    queue.most_blocks()
}

/// Threads: main takes, a producer pushes a batch of two into a block of three, and main may
/// abandon the slots. A failure: the batch does not count an abandoned slot, so that its block
/// never comes back, and one more is needed.
#[test]
fn the_block_of_an_abandoned_batch_comes_back() {
    Bound::exhaustive(11_000)
        .outcomes("two blocks are enough", || {
            let queue = queue::<3>([]);
            let crossing = Crossing::new();
            let producer = beside_both(&queue, &crossing, move |queue, crossing| {
                crossing.pass();
                queue.push_batch([10, 11].map(Track::new));
            });
            crossing.pass();
            let early = pop(&queue);
            producer.join().unwrap();
            let late = drain(&queue);
            assert_eq!(early.into_iter().chain(late).collect::<Vec<_>>(), [10, 11]);
            (early, blocks_after_use(&queue))
        })
        .assert_exactly([(None, 2), (Some(10), 2)]);
}

/// Threads: two producers at the end of a block. Both ask the slab for the next one, and one of
/// them links its own. A failure: the other, which was late, keeps its block, and one more is
/// needed.
#[test]
fn the_block_that_came_too_late_comes_back() {
    Bound::preemptions(3, 100)
        .outcomes("three blocks are enough", || {
            let queue = queue::<2>([10, 11]);
            let crossing = Crossing::new();
            let other = producer(&queue, &crossing, &[20]);
            crossing.pass();
            queue.push(Track::new(12));
            other.join().unwrap();
            assert_delivered(&[10, 11, 12, 20], &[&drain(&queue)]);
            // The first block, and the late one if there was one, follow the second.
            for item in 30..34 {
                queue.push(Track::new(item));
            }
            assert_eq!(drain(&queue), [30, 31, 32, 33]);
            queue.most_blocks()
        })
        .assert_exactly([3]);
}

/// Threads: two producers, and main. The first producer stalls at a block; main pushes and takes
/// until the block after it is free again. If the first producer prepared that block with its old
/// sequence, the second producer, which stalled before its exchange there, would link its block to
/// one outside of the queue. Main's work between the two stalls is in one piece, and so is the end
/// of the second producer. A failure: that producer's item is lost.
#[test]
fn a_block_is_not_prepared_for_a_sequence_that_it_had() {
    Bound::preemptions(2, 200_000).check("a sequence is new", || {
        let queue = queue_with_backoff::<1>(1, [10]);
        assert_eq!(pop(&queue), Some(10));
        let crossing = Crossing::new();
        let first = producer(&queue, &crossing, &[20]);
        thread::yield_now();
        loom::stop_exploring();
        queue.push(Track::new(11));
        let second = producer(&queue, &crossing, &[30]);
        loom::explore();
        thread::yield_now();
        loom::stop_exploring();
        let mut got: Vec<_> = pop(&queue).into_iter().collect();
        queue.push(Track::new(12));
        got.extend(pop(&queue));
        loom::explore();
        first.join().unwrap();
        loom::stop_exploring();
        second.join().unwrap();
        got.extend(drain(&queue));
        assert_delivered(&[11, 12, 20, 30], &[&got]);
    });
}
