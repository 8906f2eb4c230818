//! Every item arrives exactly once, in order; an item that is there is never reported absent.

use filch_models::{Bound, Crossing, beside_both};
use filch_sync::atomic::{AtomicU32, Ordering, fence};
use filch_sync::{Arc, thread};
use loom::alloc::Track;

use super::tracked::{
    assert_delivered, consumer, drain, pop, pop_batch, producer, queue, queue_with_backoff,
    take_beside,
};

/// Threads: main takes, two producers push two items each over blocks of two. They race for slots,
/// for the link to the second block, and with main, which may abandon slots that they claim. Main
/// takes twice, joins, and takes the rest. A failure: an item twice, never (a leak), or out of its
/// producer's order.
#[test]
fn two_producers_and_a_consumer_cross_a_block() {
    Bound::preemptions(2, 21_000).check("each item once, per-producer order", || {
        let queue = queue::<2>([]);
        let crossing = Crossing::new();
        let producers = [
            producer(&queue, &crossing, &[10, 11]),
            producer(&queue, &crossing, &[20, 21]),
        ];
        let got = take_beside(&queue, &crossing, 2, producers);
        assert_delivered(&[10, 11, 20, 21], &[&got]);
    });
}

/// Two items are there; main and another thread take batches of at most `own` and `other` items,
/// while a producer adds a third. Returns what each got, and the rest.
fn two_takers(own: usize, other: usize) -> [Vec<u32>; 3] {
    let queue = queue::<3>([10, 11]);
    let crossing = Crossing::new();
    let producer = producer(&queue, &crossing, &[12]);
    let consumer = consumer(&queue, &crossing, move |queue, _| {
        pop_batch(queue, other - 1)
    });
    crossing.pass();
    let own = pop_batch(&queue, own - 1);
    let other = consumer.join().unwrap();
    producer.join().unwrap();
    let rest = drain(&queue);
    for run in [&own, &other] {
        assert!(
            run.windows(2).all(|pair| pair[1] == pair[0] + 1),
            "a gap: {run:?}"
        );
    }
    assert_delivered(&[10, 11, 12], &[&own, &other, &rest]);
    [own, other, rest]
}

/// Threads: main and another take batches, a producer adds one item to a full block and one to the
/// next. A batch is one claim: the two get disjoint runs, each in order, and the older run begins
/// with the oldest item. A failure: a gap inside a batch, an item in both, or an older item after a
/// newer one.
#[test]
fn batches_are_disjoint_runs() {
    Bound::preemptions(3, 6_500)
        .outcomes("a batch is a run of the queue", || two_takers(3, 2))
        .assert_exactly([
            [vec![10, 11, 12], vec![], vec![]],
            [vec![10, 11], vec![], vec![12]],
            [vec![10, 11], vec![12], vec![]],
            [vec![12], vec![10, 11], vec![]],
            [vec![], vec![10, 11], vec![12]],
        ]);
}

/// One item is pushed into an empty block of two while main takes; then a second one is pushed.
/// Returns what main got, what a batch of two gets, and the rest.
fn a_take_beside_a_push(pauses: u32) -> (Option<u32>, Vec<u32>, Vec<u32>) {
    let queue = queue_with_backoff::<2>(pauses, []);
    let crossing = Crossing::new();
    let producer = producer(&queue, &crossing, &[1]);
    crossing.pass();
    let first = pop(&queue);
    producer.join().unwrap();
    queue.push(Track::new(2));
    (first, pop_batch(&queue, 1), drain(&queue))
}

/// Threads: main takes, a producer pushes one item into an empty block of two. Main may come
/// between the producer's claim and its item: then main abandons the slot, goes on and finds
/// nothing, and the producer puts its item into the second slot. The next batch shows that this was
/// reached: an item pushed afterwards is not in the same block. A failure: the item is lost, or
/// found in a slot that main has left.
#[test]
fn an_abandoned_slot_is_its_producers_to_replace() {
    Bound::exhaustive(330)
        .outcomes("an abandoned slot costs a slot, not an item", || {
            a_take_beside_a_push(0)
        })
        .assert_exactly([
            (Some(1), vec![2], vec![]),
            (None, vec![1, 2], vec![]),
            // Abandoned.
            (None, vec![1], vec![2]),
        ]);
}

/// Threads: main takes, a producer pushes one item, as above; but here main waits before it
/// abandons the slot. In these models, a wait lets others run, so that the item is always there
/// afterwards: nothing is abandoned. A failure: the look before the wait counts as a claim, or the
/// wait never ends.
#[test]
fn a_consumer_that_backs_off_looks_again() {
    Bound::exhaustive(110)
        .outcomes("a wait saves the slot", || a_take_beside_a_push(1))
        .assert_exactly([(Some(1), vec![2], vec![]), (None, vec![1, 2], vec![])]);
}

/// Threads: main and another look at the same two full slots, and a producer fills the third
/// meanwhile. Each claims what it saw full; one exchange of `head` succeeds, and the loser looks
/// anew. A failure: an item in both batches, or a batch with a slot that was not full at the look.
#[test]
fn two_consumers_see_the_same_run() {
    Bound::preemptions(3, 8_000)
        .outcomes("a run that two saw is one's", || two_takers(3, 3))
        .assert_exactly([
            [vec![10, 11, 12], vec![], vec![]],
            [vec![], vec![10, 11, 12], vec![]],
            [vec![10, 11], vec![], vec![12]],
            [vec![], vec![10, 11], vec![12]],
            [vec![10, 11], vec![12], vec![]],
            [vec![12], vec![10, 11], vec![]],
        ]);
}

/// Threads: one producer pushes and says so; another pushes at the same time; main, if it has heard
/// of the first push, takes. It must not get "empty", as the push was complete before. `BLOCK`
/// decides whether the pushes link blocks or claim slots. A failure: `None`, or a length of 0,
/// although main knows of an item.
fn a_finished_push_is_never_missed<const BLOCK: usize>(bound: Bound) {
    bound
        .outcomes("empty means empty", || {
            let queue = queue::<BLOCK>([]);
            let (crossing, told) = (Crossing::new(), Arc::new(AtomicU32::new(0)));
            let teller = thread::spawn({
                let (queue, crossing, told) = (queue.clone(), crossing.clone(), told.clone());
                move || {
                    crossing.pass();
                    queue.push(Track::new(10));
                    // ORDERING: Release: pairs with the load below; the history says that the push
                    // was before.
                    told.store(1, Ordering::Release);
                }
            });
            let other = producer(&queue, &crossing, &[20]);
            crossing.pass();
            // ORDERING: Acquire: pairs with the store above.
            let heard = told.load(Ordering::Acquire) == 1;
            let empty = queue.is_empty();
            let first = pop(&queue);
            assert!(
                !heard || (!empty && first.is_some()),
                "an item was overlooked"
            );
            teller.join().unwrap();
            other.join().unwrap();
            let rest = drain(&queue);
            assert_delivered(&[10, 20], &[&[first.as_slice(), &rest].concat()]);
            (heard, first)
        })
        .assert_exactly([
            (false, None),
            (false, Some(10)),
            (false, Some(20)),
            (true, Some(10)),
            (true, Some(20)),
        ]);
}

#[test]
fn a_finished_push_is_never_missed_by_slots() {
    a_finished_push_is_never_missed::<2>(Bound::preemptions(3, 13_000));
}

#[test]
fn a_finished_push_is_never_missed_by_links() {
    a_finished_push_is_never_missed::<1>(Bound::preemptions(3, 16_000));
}

/// Threads: main goes to sleep, a producer pushes. This is the handshake of the scheduler's idle
/// protocol: main announces, fences, looks; the producer pushes, fences, looks for the
/// announcement. One must see the other. A failure: main sleeps beside an item, and nobody wakes
/// it.
#[test]
fn a_sleeper_and_a_producer_see_each_other() {
    Bound::exhaustive(10)
        .outcomes("sleeper sees item or producer sees sleeper", || {
            let queue = queue::<1>([]);
            let asleep = Arc::new(AtomicU32::new(0));
            let producer = beside_both(&queue, &asleep, move |queue, asleep| {
                queue.push(Track::new(1));
                // ORDERING: SeqCst fence: pairs with the sleeper's: the push before this
                // load.
                fence(Ordering::SeqCst);
                // ORDERING: Relaxed: ordered by the fence.
                asleep.load(Ordering::Relaxed) == 1
            });
            // ORDERING: Relaxed: ordered by the fence.
            asleep.fetch_add(1, Ordering::Relaxed);
            // ORDERING: SeqCst fence: pairs with the producer's: the announcement before the
            // look.
            fence(Ordering::SeqCst);
            let stays_awake = !queue.is_empty();
            let wakes = producer.join().unwrap();
            assert!(stays_awake || wakes, "a lost wake-up");
            assert_eq!(drain(&queue), [1]);
            (stays_awake, wakes)
        })
        .assert_exactly([(true, true), (true, false), (false, true)]);
}

/// Two threads: a producer of three items, and a consumer that takes twice, over blocks of two;
/// when both are done, main drops the queue with the items that are left, behind abandoned slots
/// and before a block's end. Every item is dropped once. A failure: a leak, or an item that is
/// freed twice.
#[test]
fn items_left_in_the_queue_are_dropped() {
    Bound::preemptions(3, 1_300)
        .outcomes("the queue drops what it has", || {
            let queue = queue::<2>([]);
            let crossing = Crossing::new();
            let producer = producer(&queue, &crossing, &[10, 11, 12]);
            let taken = [(); 2].map(|()| {
                crossing.pass();
                pop(&queue)
            });
            producer.join().unwrap();
            let outcome = (taken, queue.len());
            drop(queue);
            outcome
        })
        .assert_reached([
            ([None, None], 3),
            ([Some(10), None], 2),
            ([None, Some(10)], 2),
            ([Some(10), Some(11)], 1),
        ]);
}

/// Three threads: two producers behind an item that is there, and a consumer that wants three at
/// once. The second producer may have filled its slot before the first: the batch must end before
/// the slot in flight. A failure: a read of a slot that is being written.
#[test]
fn a_batch_ends_before_a_slot_in_flight() {
    Bound::preemptions(2, 300).check("a batch ends before a slot in flight", || {
        let queue = queue::<3>([9]);
        let crossing = Crossing::new();
        let producers = [
            producer(&queue, &crossing, &[10]),
            producer(&queue, &crossing, &[20]),
        ];
        crossing.pass();
        let own = pop_batch(&queue, 2);
        for producer in producers {
            producer.join().unwrap();
        }
        let rest = drain(&queue);
        assert_delivered(&[9, 10, 20], &[&[own, rest].concat()]);
    });
}

/// Three threads: one pushes an item, one takes it, and one asks for the length. A failure: the
/// third sees the head that the taker has moved, and the tail from before the push: the length
/// would be -1, which overflows.
#[test]
fn a_length_is_never_negative() {
    Bound::preemptions(2, 2)
        .outcomes("a length beside a push and a take", || {
            let queue = queue::<2>([]);
            let crossing = Crossing::new();
            let pusher = producer(&queue, &crossing, &[10]);
            let taker = consumer(&queue, &crossing, |queue, _| pop(queue));
            crossing.pass();
            // Abandoned slots count until the head has passed them.
            let length = queue.len();
            assert!(length <= 3, "{length} of one item");
            pusher.join().unwrap();
            let taken = taker.join().unwrap();
            assert_eq!(queue.len(), usize::from(taken.is_none()));
            length
        })
        .assert_reached([0, 1]);
}

/// Three threads: one item is there, and main marks the end of the queue; one pushes a second item,
/// one takes. A failure: main is told that the queue is past its mark, but gets the first item.
#[test]
fn behind_a_mark_is_nothing_that_was_there() {
    Bound::preemptions(2, 2)
        .outcomes("a mark beside a push and a take", || {
            let queue = queue::<2>([10]);
            let mark = queue.end();
            let crossing = Crossing::new();
            let pusher = producer(&queue, &crossing, &[11]);
            let taker = consumer(&queue, &crossing, |queue, _| pop(queue));
            crossing.pass();
            let is_past = queue.is_past(mark);
            let own = pop(&queue);
            assert!(!is_past || own != Some(10), "{own:?} is behind the mark");
            pusher.join().unwrap();
            let taken = taker.join().unwrap();
            assert_eq!(queue.is_past(mark), own == Some(10) || taken == Some(10));
            is_past
        })
        .assert_reached([false, true]);
}
