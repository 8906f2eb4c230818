//! The life of blocks: installed, linked, rewound, given back.

use filch_models::Bound;
use filch_sync::Arc;

use super::queue::{Queue, drain_beside_two, interleavings, producer};

/// Two threads find the queue without a block, and both bring one. One block is installed, the
/// loser's claim goes to its second slot (or, with one slot per block, the loser's block follows),
/// and the spare is freed. A failure would show as a lost event, or a leaked one.
fn install_race<const CAP: usize>(least: u64) {
    Bound::exhaustive(least)
        .outcomes("two first pushes both arrive, in either order", || {
            let queue = Queue::<Arc<u32>, CAP>::new();
            let other = producer(&queue, (1..2).map(Arc::new));
            queue.push(Arc::new(2)).unwrap();
            other.join().unwrap();
            let outcome = queue.drain_numbers();
            assert!(queue.is_empty());
            outcome
        })
        .assert_exactly([vec![1, 2], vec![2, 1]]);
}

#[test]
fn two_first_pushes_share_a_block() {
    install_race::<2>(25);
}

#[test]
fn two_first_pushes_install_a_block_each() {
    install_race::<1>(25);
}

/// Two producers push two events each, over a block boundary, while the consumer drains twice; a
/// last drain collects the rest. Each producer's events arrive in order, each once. A consumer that
/// walks to a block that is not linked yet, or frees one too early, crashes or loses events.
#[test]
fn two_producers_cross_a_block_boundary() {
    Bound::preemptions(2, 18_000)
        .outcomes(
            "every event arrives once, each producer's in order, while blocks come and go",
            || {
                let queue = Queue::<u32, 2>::new();
                let events = drain_beside_two(&queue, [10, 20], |event| event, 2);
                assert!(queue.is_empty());
                events
            },
        )
        .assert_exactly(interleavings([10, 20]));
}

/// One producer fills block after block; the consumer drains meanwhile, so that it now and then
/// empties the tail's block and rewinds it while the next push looks at it. Order is kept, nothing
/// is lost, and loom sees no producer write to a slot that the consumer still reads.
#[test]
fn a_block_is_rewound_under_a_producer() {
    Bound::exhaustive(30_000)
        .outcomes("an emptied block is used again without a race", || {
            let queue = Queue::<u32, 2>::new();
            let producer = producer(&queue, 0..3);
            let mut events = queue.drain();
            let early = events.len();
            events.extend(queue.drain());
            producer.join().unwrap();
            events.extend(queue.drain());
            assert_eq!(events, [0, 1, 2]);
            early
        })
        .assert_exactly(0..=3);
}

/// As above by `pop`, with one slot per block: each pop empties the tail's block, and its rewind
/// races the next push, which may have brought a successor instead.
#[test]
fn a_rewind_races_a_successor() {
    Bound::preemptions(4, 22_000).check(
        "either the block is rewound or its successor is found",
        || {
            let queue = Queue::<Arc<u32>, 1>::new();
            let producer = producer(&queue, (0..3).map(Arc::new));
            let mut events = Vec::new();
            for _ in 0..3 {
                events.extend(queue.pop().map(|event| *event));
            }
            producer.join().unwrap();
            events.extend(queue.drain_numbers());
            assert_eq!(events, [0, 1, 2]);
        },
    );
}

/// A producer reads the tail and sleeps. Meanwhile the main thread pushes to the same slot, drains
/// it and rewinds: the tail is the same word again, and the producer's CAS succeeds (ABA). Its slot
/// is free; but only the CAS itself, and not the load before, tells it that the last event was
/// read. Otherwise loom would see the write race with that read.
#[test]
fn a_push_sleeps_through_a_rewind() {
    Bound::exhaustive(220).check("a claim acquires the rewind that it slept through", || {
        let queue = Queue::<u32, 1>::new();
        queue.push(1).unwrap();
        assert_eq!(queue.drain(), [1]);
        let sleeper = producer(&queue, [2]);
        queue.push(3).unwrap();
        let early = queue.drain();
        sleeper.join().unwrap();
        let events = [early, queue.drain()].concat();
        assert!(matches!(events[..], [2, 3] | [3, 2]), "{events:?}");
    });
}

/// The owner gives the block of an empty queue back while a push may claim a slot in it.
#[test]
fn shrinking_races_a_push() {
    Bound::exhaustive(160)
        .outcomes(
            "the block is freed only if no slot was claimed since",
            || {
                let queue = Queue::<u32, 3>::new();
                queue.push(1).unwrap();
                assert_eq!(queue.drain(), [1]);
                let producer = producer(&queue, [2]);
                let freed = queue.shrink();
                let early = queue.drain();
                producer.join().unwrap();
                assert_eq!([early, queue.drain()].concat(), [2]);
                freed
            },
        )
        .assert_exactly([false, true]);
}
