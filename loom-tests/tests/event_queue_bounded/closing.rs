//! The end of a queue, and its next life: every event is delivered, handed back or dropped, once.

use core::num::NonZeroU32;

use filch_event_queue::{Refused, bounded_channel};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

use crate::queue::Queue;

/// What became of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Early,
    Late,
    Full,
    Closed,
}

/// Two pushes race a close, and the drain after it, for one slot. Each event has one fate, and
/// every combination occurs but these: both accepted in a slot that is emptied after the close
/// only; and none accepted though one was told that the queue is full.
#[test]
fn close_races_two_pushes() {
    let outcomes = Outcomes::new();
    check(
        "each event is delivered or handed back, exactly once, with the reason",
        Bound::preemptions(3, 1_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<usize>>::new(1);
                let producers = [0, 1].map(|name| {
                    let queue = queue.clone();
                    thread::spawn(move || queue.push(Arc::new(name)))
                });
                queue.close();
                let early = queue.drain();
                let pushed = producers.map(|producer| producer.join().unwrap());
                let late = queue.drain();
                assert!(early.len() + late.len() <= 1);
                let among =
                    |events: &[Arc<usize>], name| events.iter().any(|event| **event == name);
                let mut fates = [0, 1].map(|name| match &pushed[name] {
                    Ok(()) if among(&early, name) => Fate::Early,
                    Ok(()) => {
                        assert!(among(&late, name));
                        Fate::Late
                    }
                    Err(Refused::Full(event)) => {
                        assert_eq!(**event, name);
                        Fate::Full
                    }
                    Err(Refused::Closed(event)) => {
                        assert_eq!(**event, name);
                        Fate::Closed
                    }
                });
                // The two producers are alike.
                fates.sort_unstable();
                outcomes.observe(fates);
            }
        },
    );
    outcomes.assert_exactly([
        [Fate::Early, Fate::Full],
        [Fate::Early, Fate::Closed],
        [Fate::Late, Fate::Full],
        [Fate::Late, Fate::Closed],
        [Fate::Closed, Fate::Closed],
    ]);
}

/// The closing thread leaves a note before it closes. A push that is refused may read it: loom
/// would report the read as a race.
#[test]
fn a_refused_push_comes_after_the_close() {
    let outcomes = Outcomes::new();
    check(
        "close happens before the return of a refused push",
        Bound::exhaustive(20),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32>::new(1);
                let note = Arc::new(UnsafeCell::new(0));
                let producer = thread::spawn({
                    let (queue, note) = (queue.clone(), note.clone());
                    move || {
                        let refused = queue.push(1).is_err();
                        if refused {
                            // SAFETY: the claim of this model: written before the close, which came
                            // before.
                            assert_eq!(note.with(|note| unsafe { *note }), 7);
                        }
                        refused
                    }
                });
                // SAFETY: the other thread reads only after the close below.
                note.with_mut(|note| unsafe { *note = 7 });
                queue.close();
                outcomes.observe(producer.join().unwrap());
            }
        },
    );
    outcomes.assert_exactly([false, true]);
}

/// The receiver is dropped, with an event in the queue, while a sender pushes another. Both are
/// dropped once: by the receiver, by the last end, or by the sender that got its own back. loom
/// reports what leaks.
#[test]
fn the_receiver_leaves_a_late_producer() {
    let outcomes = Outcomes::new();
    check(
        "an event whose push outlives the receiver is dropped with the last end",
        Bound::exhaustive(40),
        {
            let outcomes = outcomes.clone();
            move || {
                let (sender, receiver) = bounded_channel(const { NonZeroU32::new(2).unwrap() });
                sender.push(Arc::new(1)).unwrap();
                let late = thread::spawn(move || sender.push(Arc::new(2)).is_ok());
                drop(receiver);
                outcomes.observe(late.join().unwrap());
            }
        },
    );
    outcomes.assert_exactly([false, true]);
}

/// The queue is dropped with events in it, some of them taken.
#[test]
fn a_queue_is_dropped_with_events_left() {
    check(
        "what is left is dropped once",
        Bound::exhaustive(70),
        || {
            let queue = Queue::<Arc<u32>>::new(2);
            let producer = thread::spawn({
                let queue = queue.clone();
                move || {
                    for event in 0..3 {
                        let _full = queue.offer(Arc::new(event));
                    }
                }
            });
            if let Some(event) = queue.pop() {
                assert_eq!(*event, 0);
            }
            producer.join().unwrap();
        },
    );
}

/// A life ends with a close that a push may lose to, perhaps before the ring was allocated; the
/// next life begins on the consumer's thread, with new producers, in the middle of the ring.
#[test]
fn reopened_for_a_second_life() {
    let outcomes = Outcomes::new();
    check(
        "a second life begins empty and open",
        Bound::preemptions(4, 1_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>>::new(2);
                let first = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(Arc::new(1)).is_ok()
                });
                queue.close();
                let early = queue.drain().len();
                let accepted = first.join().unwrap();
                // SAFETY: this thread alone consumes, and the only producer has ended.
                unsafe { queue.queue.reopen() };
                assert!(queue.is_empty());
                let second = thread::spawn({
                    let queue = queue.clone();
                    move || {
                        assert!(queue.offer(Arc::new(2)));
                        assert!(queue.offer(Arc::new(3)));
                    }
                });
                let mut events = queue.drain();
                second.join().unwrap();
                events.extend(queue.drain());
                let events: Vec<_> = events.iter().map(|event| **event).collect();
                assert_eq!(events, [2, 3]);
                outcomes.observe((accepted, early));
            }
        },
    );
    outcomes.assert_exactly([(false, 0), (true, 0), (true, 1)]);
}
