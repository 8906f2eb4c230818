//! The order in which a consumer gets events: past a push that stalls, and after a known one.

use std::panic::{self, AssertUnwindSafe};

use filch_models::{Bound, beside_both, tell};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, Ordering};

use super::queue::{Queue, drain_behind_a_slot_in_flight, producer, stalled_producer};

/// A has claimed the first slot (the queue is not empty any more, and only A pushes), but perhaps
/// not filled it. The main thread pushes behind it and drains: it gets the event that it pushed
/// in any case, and A's now or later.
#[test]
fn a_stalled_push_is_passed_over() {
    Bound::exhaustive(450)
        .some_outcomes(
            "a claimed, unfilled slot holds nothing else up, and is delivered once it is filled",
            || {
                let queue = Queue::<u32, 2>::new();
                let (stalled, claimed) = stalled_producer(&queue, [1]);
                queue.push(2).unwrap();
                let early = queue.drain();
                assert!(early.contains(&2));
                assert!(early.contains(&1) || !claimed || !queue.is_empty());
                stalled.join().unwrap();
                let late = queue.drain();
                claimed.then_some((early, late))
            },
        )
        .assert_exactly([(vec![1, 2], vec![]), (vec![2], vec![1])]);
}

/// The same with one slot per block, and several events behind the stalled one: emptied blocks
/// between it and the tail are taken out of the list and freed, and the list still leads on.
#[test]
fn blocks_behind_a_stalled_push_are_freed() {
    Bound::preemptions(3, 27_000)
        .some_outcomes(
            "blocks that are emptied behind an unfilled slot leave the list intact",
            || {
                let queue = Queue::<Arc<u32>, 1>::new();
                drain_behind_a_slot_in_flight(&queue, &[&[2, 20], &[3, 30]])
            },
        )
        .assert_exactly([
            (vec![1, 2, 20, 3, 30], vec![]),
            (vec![2, 20, 1, 3, 30], vec![]),
            (vec![2, 20, 3, 30], vec![1]),
        ]);
}

/// The stalled push's block has a second slot, and the consumer pops: it takes that slot in one
/// call, and leaves the block in the next. If the second scan forgot that a slot is in flight, it
/// would free the block under the stalled push.
#[test]
fn a_block_with_a_slot_in_flight_is_left_by_a_later_pop() {
    Bound::exhaustive(12_000)
        .some_outcomes(
            "a block with an unfilled slot stays, whichever pop leaves it",
            || {
                let queue = Queue::<Arc<u32>, 2>::new();
                let (stalled, claimed) = stalled_producer(&queue, (1..2).map(Arc::new));
                queue.push(Arc::new(2)).unwrap();
                queue.push(Arc::new(3)).unwrap();
                let early = [queue.pop(), queue.pop()].map(|event| event.map(|event| *event));
                stalled.join().unwrap();
                let late = queue.drain_numbers();
                claimed.then_some((early, late))
            },
        )
        .assert_exactly([
            ([Some(1), Some(2)], vec![3]),
            ([Some(2), Some(1)], vec![3]),
            ([Some(2), Some(3)], vec![1]),
        ]);
}

/// A pushes `x`, then tells B, and B pushes `y`. The consumer drains (or pops) meanwhile. It may
/// get `x` alone, or both, but never `y` before `x`. Two things could break it: a consumer that
/// looks at slots claimed after it began, and a claim by B that does not carry what B knows about
/// A.
fn told_pushes_stay_behind(consume: fn(&Queue<char, 2>) -> Vec<char>, least: u64) {
    Bound::preemptions(3, least)
        .some_outcomes(
            "an event is never delivered before one that its producer knew to be pushed",
            move || {
                let queue = Queue::<char, 2>::new();
                let (a, b) = tell(
                    &queue,
                    |queue| queue.push('x').unwrap(),
                    |queue| queue.push('y').unwrap(),
                );
                let early = consume(&queue);
                a.join().unwrap();
                let told = b.join().unwrap();
                let late = queue.drain();
                if told {
                    Some((early, late))
                } else {
                    assert_eq!([early, late].concat(), ['x']);
                    None
                }
            },
        )
        .assert_exactly([
            (vec![], vec!['x', 'y']),
            (vec!['x'], vec!['y']),
            (vec!['x', 'y'], vec![]),
        ]);
}

#[test]
fn a_told_push_is_drained_behind() {
    told_pushes_stay_behind(Queue::drain, 800);
}

#[test]
fn a_told_push_is_popped_behind() {
    told_pushes_stay_behind(
        |queue| [queue.pop(), queue.pop()].into_iter().flatten().collect(),
        2_200,
    );
}

/// The wake protocol around the queue: the producer pushes, and then raises a flag. A consumer that
/// sees the flag finds the event, however the pushes of a second producer lie around it.
#[test]
fn a_completed_push_is_found() {
    Bound::preemptions(3, 22_000)
        .outcomes(
            "a pop that begins after a push returned is not told `None`",
            || {
                let queue = Queue::<u32, 1>::new();
                let woken = Arc::new(AtomicBool::new(false));
                let waker = beside_both(&queue, &woken, move |queue, woken| {
                    queue.push(1).unwrap();
                    woken.store(true, Ordering::Release);
                });
                let noise = producer(&queue, [2]);
                // A scan begins, and may end anywhere.
                let first = queue.pop();
                let woken = woken.load(Ordering::Acquire);
                let second = queue.pop();
                if woken && first != Some(1) {
                    assert!(second.is_some(), "the event of a completed push was missed");
                }
                waker.join().unwrap();
                noise.join().unwrap();
                let mut all: Vec<_> = [first, second].into_iter().flatten().collect();
                all.extend(queue.drain());
                all.sort_unstable();
                assert_eq!(all, [1, 2]);

                (first, second)
            },
        )
        .assert_exactly([
            (None, None),
            (None, Some(1)),
            (None, Some(2)),
            (Some(1), None),
            (Some(1), Some(2)),
            (Some(2), None),
            (Some(2), Some(1)),
        ]);
}

/// Two stalled pushes, and a third event, which is taken behind them. Then the sink of a drain
/// panics, between the two slots in flight or behind both. A taken event is not delivered again,
/// wherever the next scan begins: its slot is marked.
#[test]
fn a_drain_is_cut_short_between_two_slots_in_flight() {
    Bound::preemptions(2, 15_000)
        .outcomes(
            "what is taken behind a slot in flight is taken once, wherever a sink panics",
            || {
                let queue = Queue::<Arc<u32>, 3>::new();
                let stalled = [1, 2].map(|event| producer(&queue, (event..=event).map(Arc::new)));
                queue.push(Arc::new(3)).unwrap();
                let mut events = queue.drain_numbers();
                let early = events.len();
                let cut = panic::catch_unwind(AssertUnwindSafe(|| {
                    queue.drain_into(|event| {
                        events.push(*event);
                        panic::resume_unwind(Box::new(()));
                    })
                }));
                for stalled in stalled {
                    stalled.join().unwrap();
                }
                events.extend(queue.drain_numbers());
                let outcome = (early, cut.is_err());
                events.sort_unstable();
                assert_eq!(events, [1, 2, 3]);

                outcome
            },
        )
        .assert_exactly([(1, false), (1, true), (2, false), (2, true), (3, false)]);
}
