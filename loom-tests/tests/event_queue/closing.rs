//! The end of a queue, and its next life: every event is delivered, handed back or dropped, once.

use filch_event_queue::{Closed, channel};
use filch_models::{Bound, beside, beside_both};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};

use super::block_pool::NoneLeft;
use super::queue::{Event, Queue, producer};

/// Two pushes race a close and the drain after it. Each event is handed back, or delivered, by that
/// drain or by a later one when its push was still under way.
#[test]
fn close_races_two_pushes() {
    let outcomes = Bound::preemptions(3, 3_400).outcomes(
        "each event is delivered or handed back, exactly once",
        || {
            let queue = Queue::<Arc<usize>, 1>::new();
            let producers = [0, 1].map(|name| {
                let queue = queue.clone();
                thread::spawn(move || queue.push(Arc::new(name)))
            });
            queue.close();
            let early = queue.drain();
            let handed_back = producers.map(|producer| match producer.join().unwrap() {
                Ok(()) => None,
                Err(Closed(event)) => Some(event),
            });
            let late = queue.drain();
            [0, 1].map(|name| {
                let count =
                    |events: &[Arc<usize>]| events.iter().filter(|event| ***event == name).count();
                let refused = handed_back[name].as_ref().map_or(0, |event| {
                    assert_eq!(**event, name);
                    1
                });
                (count(&early), count(&late), refused)
            })
        },
    );
    let each = [(1, 0, 0), (0, 1, 0), (0, 0, 1)];
    outcomes.assert_exactly(each.iter().flat_map(|a| each.iter().map(|b| [*a, *b])));
}

/// The closing thread leaves a note before it closes. A push that is refused may read it: loom
/// would report the read as a race.
#[test]
fn a_refused_push_comes_after_the_close() {
    Bound::exhaustive(20)
        .outcomes("close happens before the return of a refused push", || {
            let queue = Queue::<u32, 1>::new();
            let note = Arc::new(UnsafeCell::new(0));
            let producer = beside_both(&queue, &note, move |queue, note| {
                let refused = queue.push(1).is_err();
                if refused {
                    // SAFETY: the claim of this model: written before the close, which came
                    // before.
                    assert_eq!(note.with(|note| unsafe { *note }), 7);
                }
                refused
            });
            // SAFETY: the other thread reads only after the close below.
            note.with_mut(|note| unsafe { *note = 7 });
            queue.close();
            producer.join().unwrap()
        })
        .assert_exactly([false, true]);
}

/// The receiver is dropped, with an event in the queue, while a sender pushes another. Both are
/// dropped once: by the receiver, by the last end, or by the sender that got its event
/// back. loom reports a leak.
#[test]
fn the_receiver_leaves_a_late_producer() {
    Bound::exhaustive(40)
        .outcomes(
            "an event whose push outlives the receiver is dropped with the last end",
            || {
                let _blocks = NoneLeft;
                let (sender, receiver) = channel();
                sender.push(Event(Arc::new(1))).unwrap();
                let late = thread::spawn(move || sender.push(Event(Arc::new(2))).is_ok());
                drop(receiver);
                late.join().unwrap()
            },
        )
        .assert_exactly([false, true]);
}

/// The queue is dropped with events in several blocks, some of them taken.
#[test]
fn a_queue_is_dropped_with_events_left() {
    Bound::exhaustive(75).check("what is left is dropped once", || {
        let queue = Queue::<Arc<u32>, 2>::new();
        let producer = producer(&queue, (0..3).map(Arc::new));
        if let Some(event) = queue.pop() {
            assert_eq!(*event, 0);
        }
        producer.join().unwrap();
    });
}

/// A life ends with a close that a push may lose to; the next life begins on another thread, with
/// new producers. No event of the first life appears in the second.
#[test]
fn reopened_for_a_second_life() {
    Bound::preemptions(4, 1_200)
        .outcomes("a second life begins empty and open", || {
            let queue = Queue::<Arc<u32>, 2>::new();
            let first = beside(&queue, |queue| queue.push(Arc::new(1)).is_ok());
            queue.close();
            let early = queue.drain().len();
            let accepted = first.join().unwrap();
            queue.drain();
            assert_eq!(queue.reopen(), Ok(1));
            assert!(queue.is_empty());
            let second = producer(&queue, (2..4).map(Arc::new));
            let mut events = queue.drain_numbers();
            second.join().unwrap();
            events.extend(queue.drain_numbers());
            assert_eq!(events, [2, 3]);
            (accepted, early)
        })
        .assert_exactly([(false, 0), (true, 0), (true, 1)]);
}
