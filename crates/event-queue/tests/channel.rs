//! The safe ends, on real threads where it matters.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use filch_event_queue::{Closed, EventQueue, Receiver, channel};

// An event that may not change threads keeps the whole queue on one.

fn drained<T: Send>(receiver: &mut Receiver<T>) -> Vec<T> {
    let mut events = Vec::new();
    let moved = receiver.drain(|event| events.push(event));
    assert_eq!(moved, events.len());
    events
}

#[test]
fn drain_takes_everything_in_order() {
    let (sender, mut receiver) = channel();
    for event in 0..100 {
        sender.push(event).unwrap();
    }
    assert_eq!(drained(&mut receiver), (0..100).collect::<Vec<_>>());
    assert!(receiver.is_empty());
    assert_eq!(drained(&mut receiver), []);
}

#[test]
fn events_pushed_by_the_sink_wait_for_the_next_drain() {
    let (sender, mut receiver) = channel();
    sender.push(1).unwrap();
    let mut seen = Vec::new();
    receiver.drain(|event| {
        seen.push(event);
        sender.push(event + 1).unwrap();
    });
    assert_eq!(seen, [1]);
    assert_eq!(drained(&mut receiver), [2]);
}

#[test]
fn a_panicking_sink_loses_only_the_event_it_had() {
    let (sender, mut receiver) = channel();
    for event in 0..20 {
        sender.push(event).unwrap();
    }
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        receiver.drain(|event| assert_ne!(event, 12));
    }));
    assert!(panic.is_err());
    assert!(!receiver.is_empty());
    assert_eq!(drained(&mut receiver), (13..20).collect::<Vec<_>>());
}

#[test]
fn a_closed_queue_hands_events_back_and_can_be_drained() {
    let (sender, mut receiver) = channel();
    sender.push("kept").unwrap();
    receiver.close();
    assert!(sender.is_closed());
    assert_eq!(sender.push("refused"), Err(Closed("refused")));
    assert_eq!(receiver.pop(), Some("kept"));
    assert_eq!(receiver.pop(), None);
}

#[test]
fn everything_is_dropped_once() {
    let token = Arc::new(());
    let (sender, mut receiver) = channel();
    for _ in 0..30 {
        sender.push(Arc::clone(&token)).unwrap();
    }
    receiver.pop();
    assert_eq!(Arc::strong_count(&token), 30);
    drop(receiver);
    assert_eq!(Arc::strong_count(&token), 1);
    sender.push(Arc::clone(&token)).unwrap_err();

    let queue = EventQueue::<_, 3>::new();
    for _ in 0..10 {
        queue.push(Arc::clone(&token)).unwrap();
    }
    // SAFETY: one thread.
    assert!(unsafe { queue.pop() }.is_some());
    drop(queue);
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn a_queue_has_several_lives() {
    let queue = EventQueue::<_, 2>::new();
    for life in 0..5 {
        for event in 0..7 {
            queue.push((life, event)).unwrap();
        }
        queue.close();
        assert!(queue.push((life, 7)).is_err());
        // SAFETY: one thread.
        assert_eq!(unsafe { queue.pop() }, Some((life, 0)));
        // SAFETY: one thread.
        unsafe { queue.reopen() };
        assert!(queue.is_empty() && !queue.is_closed());
    }
}

/// Four producers, a consumer that mixes `drain` and `pop`: every event arrives, once, and each
/// producer's events arrive in the order in which it pushed them.
#[test]
fn four_producers() {
    const EACH: u64 = 20_000;
    let (sender, mut receiver) = channel();
    let producers: Vec<_> = (0..4_u64)
        .map(|producer| {
            let sender = sender.clone();
            thread::spawn(move || {
                for number in 0..EACH {
                    sender.push((producer, Box::new(number))).unwrap();
                }
            })
        })
        .collect();
    let mut expected = BTreeMap::from([(0, 0), (1, 0), (2, 0), (3, 0)]);
    let mut check = |(producer, number): (u64, Box<u64>)| {
        let next = expected.get_mut(&producer).unwrap();
        assert_eq!(*number, *next);
        *next += 1;
    };
    let mut received = 0;
    while received < 4 * EACH {
        if let Some(event) = receiver.pop() {
            check(event);
            received += 1;
        }
        let drained = receiver.drain(&mut check);
        received += drained as u64;
        if drained == 0 {
            receiver.shrink();
            thread::yield_now();
        }
    }
    for producer in producers {
        producer.join().unwrap();
    }
    assert!(receiver.is_empty());
    assert_eq!(expected.into_values().collect::<Vec<_>>(), [EACH; 4]);
}

/// The receiver goes away while four producers push: each event is accepted and dropped, or handed
/// back.
#[test]
fn closing_under_fire() {
    for round in 0..50 {
        let token = Arc::new(());
        let (sender, mut receiver) = channel();
        let producers: Vec<_> = (0..4)
            .map(|_| {
                let (sender, token) = (sender.clone(), Arc::clone(&token));
                thread::spawn(move || {
                    let mut accepted = 0;
                    while accepted < 1_000 && sender.push(Arc::clone(&token)).is_ok() {
                        accepted += 1;
                    }
                    accepted
                })
            })
            .collect();
        drop(sender);
        let mut received = 0;
        while received < round {
            received += receiver.drain(drop);
        }
        drop(receiver);
        let accepted: usize = producers.into_iter().map(|p| p.join().unwrap()).sum();
        assert!(accepted >= received);
        assert_eq!(Arc::strong_count(&token), 1);
    }
}
