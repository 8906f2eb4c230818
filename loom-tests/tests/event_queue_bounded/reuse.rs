//! Slots that are used lap after lap.

use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

use crate::queue::Queue;

/// One producer goes round the ring while the consumer follows; a push that is refused is given up.
/// What was accepted arrives in order, and loom sees no producer write to a slot that the consumer
/// still reads.
fn round_and_round(capacity: u32, start: u64, events: u32, least: u64) {
    // With one slot, it takes four switches to have every push accepted.
    let preemptions = if capacity == 1 { 4 } else { 3 };
    let outcomes = Outcomes::new();
    check(
        "a released slot is used again without a race, and what was accepted arrives in order",
        Bound::preemptions(preemptions, least),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>>::starting_at(capacity, start);
                let producer = thread::spawn({
                    let queue = queue.clone();
                    move || -> Vec<u32> {
                        let accepted = (0..events).filter(|&event| queue.offer(Arc::new(event)));
                        accepted.collect()
                    }
                });
                let mut received: Vec<u32> = Vec::new();
                received.extend(queue.pop().map(|event| *event));
                received.extend(queue.drain().iter().map(|event| **event));
                let accepted = producer.join().unwrap();
                received.extend(queue.drain().iter().map(|event| **event));
                assert_eq!(received, accepted);
                assert!(queue.is_empty());
                outcomes.observe(accepted.len());
            }
        },
    );
    outcomes.assert_exactly(capacity as usize..=events as usize);
}

#[test]
fn round_a_ring_of_one() {
    round_and_round(1, 0, 3, 500);
}

#[test]
fn round_a_ring_of_two() {
    round_and_round(2, 0, 4, 500);
}

/// The position wraps from its last lap to lap 0, within the model.
#[test]
fn round_a_ring_of_one_at_the_end_of_the_counter() {
    round_and_round(1, u64::MAX - 1, 3, 500);
}

#[test]
fn round_a_ring_of_three_at_the_end_of_the_counter() {
    round_and_round(3, u64::MAX, 4, 500);
}

/// The consumer has popped before, so that it knows the ring and takes the front without asking the
/// tail. A push waits for the one slot: it gets it, or is refused, and does not write into it while
/// the event is read.
#[test]
fn a_push_waits_for_the_slot_that_a_front_pop_reads() {
    let outcomes = Outcomes::new();
    check(
        "a slot that is popped without a snapshot is released after it was read",
        Bound::exhaustive(20),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32>::new(1);
                queue.push(1).unwrap();
                assert_eq!(queue.pop(), Some(1));
                queue.push(2).unwrap();
                let producer = thread::spawn({
                    let queue = queue.clone();
                    move || queue.offer(3)
                });
                assert_eq!(queue.pop(), Some(2));
                let accepted = producer.join().unwrap();
                assert_eq!(queue.pop(), accepted.then_some(3));
                outcomes.observe(accepted);
            }
        },
    );
    outcomes.assert_exactly([false, true]);
}

/// A producer reads the tail and sleeps. The main thread pushes and drains three times, so that the
/// head that producers have seen lies beyond what the sleeper remembers as the tail. That is not a
/// full queue; its claim fails, and it goes by the new words. (If the sleeper has claimed and not
/// filled its slot, the main thread is refused in the end.)
#[test]
fn a_push_sleeps_through_a_lap() {
    let outcomes = Outcomes::new();
    check(
        "a tail that the head has overtaken does not make the queue full",
        Bound::preemptions(3, 500),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32>::new(2);
                let sleeper = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(9).unwrap()
                });
                let mut events = Vec::new();
                let mut accepted = 0;
                for event in 0..3 {
                    accepted += u32::from(queue.offer(event));
                    events.extend(queue.drain());
                }
                sleeper.join().unwrap();
                events.extend(queue.drain());
                if accepted == 3 {
                    outcomes.observe(events);
                }
            }
        },
    );
    outcomes.assert_exactly([
        vec![9, 0, 1, 2],
        vec![0, 9, 1, 2],
        vec![0, 1, 9, 2],
        vec![0, 1, 2, 9],
    ]);
}

/// Two producers and one slot, which the consumer empties: the second of the two may learn of the
/// room from the first, which has looked at the head, and not from the consumer. What the consumer
/// read from the slot still comes before what either writes.
#[test]
fn room_is_heard_of_from_another_producer() {
    let outcomes = Outcomes::new();
    check(
        "a head that another producer has seen is as good as the head",
        Bound::preemptions(3, 2_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32>::new(2);
                queue.push(0).unwrap();
                queue.push(1).unwrap();
                let producers = [10, 20].map(|event| {
                    let queue = queue.clone();
                    thread::spawn(move || queue.offer(event))
                });
                assert_eq!(queue.drain()[..2], [0, 1]);
                let accepted = producers.map(|producer| producer.join().unwrap());
                outcomes.observe(accepted);
            }
        },
    );
    outcomes.assert_exactly([[false, false], [false, true], [true, false], [true, true]]);
}
