//! What a consumer gets, and in which order: past a push that stalls, and after one that is known.

use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

use crate::queue::Queue;

/// Two producers find the queue without a ring, and both bring one. One ring is kept, and both
/// events are in it; the other ring is freed.
#[test]
fn two_first_pushes_share_a_ring() {
    let outcomes = Outcomes::new();
    check(
        "two first pushes both arrive, in either order",
        Bound::exhaustive(100),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>>::new(2);
                let other = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(Arc::new(1)).unwrap()
                });
                queue.push(Arc::new(2)).unwrap();
                other.join().unwrap();
                outcomes.observe(queue.drain().iter().map(|event| **event).collect());
                assert!(queue.is_empty());
            }
        },
    );
    outcomes.assert_exactly([vec![1, 2], vec![2, 1]]);
}

/// A has claimed the first slot (the queue is not empty any more, and only A pushes), but perhaps
/// not filled it. The main thread pushes behind it and drains: it gets its own event in any case,
/// and A's now or later. As long as A's slot is a hole, the one behind it stays in use.
#[test]
fn a_stalled_push_holds_back_room_and_no_event() {
    let outcomes = Outcomes::new();
    check(
        "an unfilled slot holds up no event, is delivered once it is filled, and keeps what is behind it in use",
        Bound::exhaustive(1_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32>::new(2);
                let stalled = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(1).unwrap()
                });
                let claimed = !queue.is_empty();
                queue.push(2).unwrap();
                let early = queue.drain();
                assert!(early.contains(&2));
                let accepted = queue.offer(3);
                stalled.join().unwrap();
                let late = queue.drain();
                assert!(queue.is_empty());
                if claimed {
                    outcomes.observe((early, accepted, late));
                }
            }
        },
    );
    outcomes.assert_exactly([(vec![1, 2], true, vec![3]), (vec![2], false, vec![1])]);
}

/// The same in a ring of three, by `pop` and `drain` in turn: what was taken behind the hole is
/// not delivered again, neither in the next pass nor, by its old mark, in the next lap.
#[test]
fn events_taken_behind_a_hole_are_taken_once() {
    let outcomes = Outcomes::new();
    check(
        "an event that was delivered before its turn is not delivered again",
        Bound::preemptions(3, 590),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>>::new(3);
                let stalled = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(Arc::new(1)).unwrap()
                });
                let claimed = !queue.is_empty();
                queue.push(Arc::new(2)).unwrap();
                let mut events: Vec<u32> = queue.pop().iter().map(|event| **event).collect();
                let drain = || -> Vec<u32> { queue.drain().iter().map(|event| **event).collect() };
                if queue.offer(Arc::new(3)) {
                    events.push(0);
                }
                events.extend(drain());
                stalled.join().unwrap();
                events.extend(drain());
                for event in 4..7 {
                    assert!(queue.offer(Arc::new(event)), "all room came back");
                }
                assert_eq!(drain(), [4, 5, 6]);
                if claimed {
                    outcomes.observe(events);
                }
            }
        },
    );
    // 0 stands for the push of 3, which is always accepted.
    outcomes.assert_exactly([vec![1, 0, 2, 3], vec![2, 0, 1, 3], vec![2, 0, 3, 1]]);
}

/// A has claimed the first slot, and perhaps not filled it; the main thread's first pop takes what
/// is behind the hole. Its next pop takes A's event, by the front alone, and then nothing is in
/// use: the place behind, which was taken before its turn, comes back in that very call.
#[test]
fn the_pop_that_fills_a_gap_releases_what_is_behind() {
    let outcomes = Outcomes::new();
    check(
        "once every event is taken, no place is in use",
        Bound::preemptions(3, 140),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32>::new(2);
                let stalled = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(1).unwrap()
                });
                queue.push(2).unwrap();
                let first = queue.pop().unwrap();
                stalled.join().unwrap();
                let second = queue.pop().unwrap();
                assert!(queue.is_empty(), "taken, and still in use");
                assert!(queue.offer(3) && queue.offer(4), "all room came back");
                outcomes.observe((first, second));
            }
        },
    );
    outcomes.assert_exactly([(1, 2), (2, 1)]);
}

/// The same, by `pop` alone, and a lap further: the note that an event was taken before its turn is
/// gone when its slot is filled again. If it stayed, the next lap's event would be passed over.
#[test]
fn a_slot_taken_before_its_turn_is_used_again() {
    let outcomes = Outcomes::new();
    check(
        "what was noted of a slot in one lap is forgotten in the next",
        Bound::preemptions(3, 140),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>>::new(2);
                let stalled = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(Arc::new(1)).unwrap()
                });
                queue.push(Arc::new(2)).unwrap();
                let pop = || queue.pop().map(|event| *event);
                let mut events = vec![pop().unwrap()];
                stalled.join().unwrap();
                events.extend(std::iter::from_fn(pop));
                queue.push(Arc::new(3)).unwrap();
                queue.push(Arc::new(4)).unwrap();
                events.extend(std::iter::from_fn(pop));
                outcomes.observe(events);
            }
        },
    );
    outcomes.assert_exactly([vec![1, 2, 3, 4], vec![2, 1, 3, 4]]);
}

/// A pushes `x`, then tells B, and B pushes `y`. The consumer drains (or pops) meanwhile. It may
/// get `x` alone, or both, but never `y` before `x`. Two things could break it: a consumer that
/// looks at slots claimed after it began, and a claim by B that does not carry what B knows about
/// A.
fn told_pushes_stay_behind(consume: fn(&Queue<char>) -> Vec<char>, least: u64) {
    let outcomes = Outcomes::new();
    check(
        "an event is never delivered before one that its producer knew to be pushed",
        Bound::preemptions(3, least),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<char>::new(3);
                let told = Arc::new(AtomicBool::new(false));
                let a = thread::spawn({
                    let (queue, told) = (queue.clone(), told.clone());
                    move || {
                        queue.push('x').unwrap();
                        told.store(true, Ordering::Release);
                    }
                });
                let b = thread::spawn({
                    let queue = queue.clone();
                    move || {
                        let told = told.load(Ordering::Acquire);
                        if told {
                            queue.push('y').unwrap();
                        }
                        told
                    }
                });
                let early = consume(&queue);
                a.join().unwrap();
                let told = b.join().unwrap();
                let late = queue.drain();
                if told {
                    outcomes.observe((early, late));
                } else {
                    assert_eq!([early, late].concat(), ['x']);
                }
            }
        },
    );
    outcomes.assert_exactly([
        (vec![], vec!['x', 'y']),
        (vec!['x'], vec!['y']),
        (vec!['x', 'y'], vec![]),
    ]);
}

#[test]
fn a_told_push_is_drained_behind() {
    told_pushes_stay_behind(Queue::drain, 500);
}

#[test]
fn a_told_push_is_popped_behind() {
    told_pushes_stay_behind(
        |queue| [queue.pop(), queue.pop()].into_iter().flatten().collect(),
        500,
    );
}
