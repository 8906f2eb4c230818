//! Who is told that the queue is full, and when.

use filch_event_queue::Refused;
use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

use crate::queue::Queue;

/// Two producers, one slot, nobody consumes. One is accepted and the other is told that the queue
/// is full: in no execution both, and in none neither.
#[test]
fn one_slot_takes_one_of_two() {
    let outcomes = Outcomes::new();
    check(
        "of two pushes to one slot, one is accepted",
        Bound::exhaustive(100),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>>::new(1);
                let other = thread::spawn({
                    let queue = queue.clone();
                    move || queue.offer(Arc::new(1))
                });
                let ours = queue.offer(Arc::new(2));
                let theirs = other.join().unwrap();
                let events: Vec<_> = queue.drain().iter().map(|event| **event).collect();
                outcomes.observe((theirs, ours, events));
            }
        },
    );
    outcomes.assert_exactly([(true, false, vec![1]), (false, true, vec![2])]);
}

/// The queue is full; a push races the pop that makes room, and is accepted or refused. If it is
/// refused, the pop had not returned: a push after it is accepted. The event comes out in order.
#[test]
fn a_push_races_the_pop_that_makes_room() {
    let outcomes = Outcomes::new();
    check(
        "a push is refused only if it did not come after the pop",
        Bound::exhaustive(60),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>>::new(1);
                queue.push(Arc::new(1)).unwrap();
                let popped = Arc::new(AtomicBool::new(false));
                let producer = thread::spawn({
                    let (queue, popped) = (queue.clone(), popped.clone());
                    move || {
                        let popped = popped.load(Ordering::Acquire);
                        (popped, queue.offer(Arc::new(2)))
                    }
                });
                assert_eq!(queue.pop().as_deref(), Some(&1));
                popped.store(true, Ordering::Release);
                let (told, accepted) = producer.join().unwrap();
                assert_eq!(queue.pop().is_some(), accepted);
                outcomes.observe((told, accepted));
            }
        },
    );
    outcomes.assert_exactly([(false, false), (false, true), (true, true)]);
}

/// Two producers with an event each, a queue with one place left, and a drain. Which of the pushes
/// are accepted, and what is drained early: exactly these. Never are three events in the queue.
#[test]
fn two_pushes_race_a_drain_for_two_places() {
    let outcomes = Outcomes::new();
    check(
        "each event is delivered once or handed back, and at most two are in the queue",
        Bound::preemptions(3, 2_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32>::new(2);
                queue.push(1).unwrap();
                let producers = [10, 20].map(|event| {
                    let queue = queue.clone();
                    thread::spawn(move || queue.offer(event))
                });
                let early = queue.drain();
                let accepted = producers.map(|producer| producer.join().unwrap());
                let late = queue.drain();
                assert_eq!(early[0], 1);
                assert!(early.len() <= 3 && late.len() <= 2);
                outcomes.observe((accepted, early, late));
            }
        },
    );
    let both = [true, true];
    outcomes.assert_exactly([
        (both, vec![1], vec![10, 20]),
        (both, vec![1], vec![20, 10]),
        (both, vec![1, 10], vec![20]),
        (both, vec![1, 20], vec![10]),
        ([true, false], vec![1], vec![10]),
        ([true, false], vec![1, 10], vec![]),
        ([false, true], vec![1], vec![20]),
        ([false, true], vec![1, 20], vec![]),
    ]);
}

/// One event, room for two. The consumer pops it, and pops again; meanwhile a producer pushes
/// twice. If the second pop says `None`, then at that moment the first event was gone and the new
/// one was not there: so the queue never held two, and the second push cannot have been refused.
/// Each side stores, and then looks at the other's store; without the two fences, both could look
/// too early.
#[test]
fn full_and_empty_do_not_contradict_each_other() {
    let outcomes = Outcomes::new();
    check(
        "no history says both that the queue was empty, and that it was full around it",
        Bound::exhaustive(5_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32>::new(2);
                queue.push(1).unwrap();
                let producer = thread::spawn({
                    let queue = queue.clone();
                    move || {
                        queue.push(2).unwrap();
                        queue.offer(3)
                    }
                });
                assert_eq!(queue.pop(), Some(1));
                let second = queue.pop();
                let accepted = producer.join().unwrap();
                outcomes.observe((second, accepted));
            }
        },
    );
    outcomes.assert_exactly([(None, true), (Some(2), false), (Some(2), true)]);
}

/// As above by `drain`, which says that it found nothing, and with the claims of two producers: the
/// one that is refused has only heard of the one that was accepted.
#[test]
fn full_as_told_by_another_and_an_empty_drain() {
    let outcomes = Outcomes::new();
    check(
        "a producer that counts another's claim is not refused around an empty drain",
        Bound::preemptions(3, 1_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32>::new(2);
                queue.push(1).unwrap();
                let told = Arc::new(AtomicBool::new(false));
                let first = thread::spawn({
                    let (queue, told) = (queue.clone(), told.clone());
                    move || {
                        queue.push(2).unwrap();
                        told.store(true, Ordering::Release);
                    }
                });
                let second = thread::spawn({
                    let queue = queue.clone();
                    move || {
                        told.load(Ordering::Acquire)
                            .then(|| queue.push(3).map_err(Refused::into_inner))
                    }
                });
                let popped = queue.pop();
                let drained = queue.drain();
                assert_eq!(popped, Some(1));
                first.join().unwrap();
                if let Some(pushed) = second.join().unwrap() {
                    outcomes.observe((drained, pushed));
                }
            }
        },
    );
    outcomes.assert_exactly([
        (vec![], Ok(())),
        (vec![2], Ok(())),
        (vec![2], Err(3)),
        (vec![2, 3], Ok(())),
    ]);
}
