//! One thread alone recycles a block, when nobody touches it any more; a recycled block is as good
//! as new.

use filch_models::{Bound, Crossing};
use loom::alloc::Track;

use super::tracked::{assert_delivered, consumer, drain, pop, producer, queue, take_beside};

/// Threads: main takes twice, a producer pushes three items through blocks of two. The consumer may
/// abandon the last slot of a block: the producer is then the last user and must recycle it. A
/// failure: both recycle a block, or one recycles it while the other uses it (a causality violation
/// of its cells).
#[test]
fn a_producer_recycles_the_block_of_its_abandoned_slot() {
    Bound::preemptions(4, 16_000).check("the block of an abandoned slot is recycled once", || {
        let queue = queue::<2>([]);
        let crossing = Crossing::new();
        let producer = producer(&queue, &crossing, &[10, 11, 12]);
        let got = take_beside(&queue, &crossing, 3, [producer]);
        assert_eq!(got, [10, 11, 12]);
    });
}

/// Threads: a producer pushes one item; main pushes two and takes three times, over blocks of one
/// slot. So the block at which the producer stalls leaves the queue, and comes back as a later
/// block. A failure: the stalled producer links its block to the later life of the one that it
/// knew, which loses items; or both have one block.
#[test]
fn a_stale_producer_cannot_link_to_a_recycled_block() {
    Bound::preemptions(2, 20_000).check("a block's former life cannot be linked to", || {
        let queue = queue::<1>([10]);
        let crossing = Crossing::new();
        let producer = producer(&queue, &crossing, &[20]);
        crossing.pass();
        queue.push(Track::new(11));
        let mut got = Vec::new();
        for _ in 0..2 {
            got.extend(pop(&queue));
        }
        crossing.pass();
        queue.push(Track::new(12));
        got.extend(pop(&queue));
        producer.join().unwrap();
        got.extend(drain(&queue));
        assert_delivered(&[10, 11, 12, 20], &[&got]);
    });
}

/// Threads: a producer, a consumer, and main, on blocks of one slot. The consumer abandons the
/// producer's only slot and gets nothing; the producer counts the slot as finished and appends a
/// block; main moves on to it and is the last user of the first one. If the consumer counted the
/// slot too, it would release the block a second time. A failure: later pushes get one block twice,
/// and an item is overwritten.
#[test]
fn a_consumer_that_got_nothing_leaves_the_block_alone() {
    Bound::preemptions(3, 6_000).check("an abandoned claim does not finish a block", || {
        let queue = queue::<1>([]);
        let crossing = Crossing::new();
        let producer = producer(&queue, &crossing, &[10]);
        let consumer = consumer(&queue, &crossing, |queue, _| pop(queue));
        crossing.pass();
        let own = pop(&queue);
        let other = consumer.join().unwrap();
        producer.join().unwrap();
        for item in [11, 12, 13] {
            queue.push(Track::new(item));
        }
        let rest = drain(&queue);
        assert_delivered(
            &[10, 11, 12, 13],
            &[own.as_slice(), other.as_slice(), &rest],
        );
    });
}

/// Threads: main takes, a producer pushes, on blocks of two slots. Main leaves the first block and
/// recycles it; if it is quick, the producer's next block is this one again, and main comes to its
/// slots a second time. A failure: a slot still says FULL or TAKEN from its former life, so that
/// main reads an item that is not there, or loses one.
#[test]
fn a_recycled_block_starts_anew() {
    Bound::preemptions(3, 250).check("a block has no memory of its former life", || {
        let queue = queue::<2>([10, 11]);
        assert_eq!([pop(&queue), pop(&queue)], [Some(10), Some(11)]);
        queue.push(Track::new(12));
        queue.push(Track::new(13));
        let crossing = Crossing::new();
        let producer = producer(&queue, &crossing, &[14, 15]);
        let mut got = Vec::new();
        got.extend(pop(&queue));
        crossing.pass();
        for _ in 0..3 {
            got.extend(pop(&queue));
        }
        producer.join().unwrap();
        got.extend(drain(&queue));
        assert_eq!(got, [12, 13, 14, 15]);
    });
}

/// Threads: two consumers and a producer on blocks of one slot. The consumers race to leave the
/// first block and to recycle it, while the producer wants a block. A failure: a head beyond the
/// tail, an item twice, a block with two owners.
#[test]
fn two_consumers_leave_a_block() {
    Bound::preemptions(3, 60_000).check("one consumer recycles the block", || {
        let queue = queue::<1>([10]);
        let crossing = Crossing::new();
        let producer = producer(&queue, &crossing, &[11, 12]);
        let consumer = consumer(&queue, &crossing, |queue, crossing| {
            let first = pop(queue);
            crossing.pass();
            first.into_iter().chain(pop(queue)).collect::<Vec<_>>()
        });
        crossing.pass();
        let mut own: Vec<_> = pop(&queue).into_iter().collect();
        crossing.pass();
        own.extend(pop(&queue));
        let other = consumer.join().unwrap();
        producer.join().unwrap();
        let rest = drain(&queue);
        assert_delivered(&[10, 11, 12], &[&own, &other, &rest]);
    });
}
