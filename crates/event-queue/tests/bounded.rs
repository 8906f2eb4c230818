//! The bounded queue's safe ends, on real threads where it matters.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use filch_event_queue::{BoundedQueue, BoundedReceiver, BoundedSender, Refused, bounded_channel};
use static_assertions::{assert_impl_all, assert_not_impl_any, const_assert};

assert_impl_all!(BoundedSender<u64>: Clone, Send, Sync);
assert_impl_all!(BoundedReceiver<u64>: Send);
assert_not_impl_any!(BoundedReceiver<u64>: Sync, Clone);
assert_impl_all!(BoundedQueue<u64>: Send, Sync);
// An event that may not change threads keeps the whole queue on one.
assert_not_impl_any!(BoundedQueue<std::rc::Rc<u64>>: Send, Sync);
const_assert!(size_of::<BoundedQueue<[u8; 1000]>>() <= 72);

fn capacity(events: u32) -> NonZeroU32 {
    NonZeroU32::new(events).unwrap()
}

fn drained<T: Send>(receiver: &mut BoundedReceiver<T>) -> Vec<T> {
    let mut events = Vec::new();
    let moved = receiver.drain(|event| events.push(event));
    assert_eq!(moved, events.len());
    events
}

#[test]
fn exactly_the_capacity_is_accepted() {
    for limit in 1..=9 {
        let (sender, mut receiver) = bounded_channel(capacity(limit));
        for round in 0..5 {
            for event in 0..limit {
                sender.push((round, event)).unwrap();
            }
            assert_eq!(sender.push((9, 9)), Err(Refused::Full((9, 9))));
            let expected: Vec<_> = (0..limit).map(|event| (round, event)).collect();
            assert_eq!(drained(&mut receiver), expected);
            assert!(receiver.is_empty());
        }
    }
}

#[test]
fn a_sink_may_push_into_the_room_that_its_event_left() {
    let (sender, mut receiver) = bounded_channel(capacity(2));
    sender.push(1).unwrap();
    sender.push(2).unwrap();
    let mut seen = Vec::new();
    receiver.drain(|event| {
        seen.push(event);
        sender.push(event + 10).unwrap();
    });
    assert_eq!(seen, [1, 2]);
    assert_eq!(drained(&mut receiver), [11, 12]);
}

#[test]
fn a_panicking_sink_loses_only_the_event_it_had() {
    let (sender, mut receiver) = bounded_channel(capacity(20));
    for event in 0..20 {
        sender.push(event).unwrap();
    }
    assert_eq!(receiver.pop(), Some(0));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        receiver.drain(|event| assert_ne!(event, 12));
    }));
    assert!(panic.is_err());
    // What came before is gone, the event in hand too: nothing is delivered twice.
    assert_eq!(receiver.pop(), Some(13));
    for event in 20..33 {
        let room = sender.push(event).is_ok();
        assert!(room, "{event}");
    }
    assert_eq!(drained(&mut receiver), (14..33).collect::<Vec<_>>());
}

#[test]
fn closed_is_said_before_full_and_events_can_still_be_drained() {
    let (sender, mut receiver) = bounded_channel(capacity(1));
    sender.push("kept").unwrap();
    receiver.close();
    assert!(sender.is_closed());
    assert_eq!(sender.push("refused"), Err(Refused::Closed("refused")));
    assert_eq!(receiver.pop(), Some("kept"));
    assert_eq!(receiver.pop(), None);
}

#[test]
fn everything_is_dropped_once() {
    let token = Arc::new(());
    let (sender, mut receiver) = bounded_channel(capacity(30));
    for _ in 0..30 {
        sender.push(Arc::clone(&token)).unwrap();
    }
    drop(sender.push(Arc::clone(&token)));
    receiver.pop();
    assert_eq!(Arc::strong_count(&token), 30);
    drop(receiver);
    assert_eq!(Arc::strong_count(&token), 1);

    let queue = BoundedQueue::<_>::new(capacity(3));
    for _ in 0..5 {
        drop(queue.push(Arc::clone(&token)));
    }
    // SAFETY: one thread.
    assert!(unsafe { queue.pop() }.is_some());
    drop(queue);
    assert_eq!(Arc::strong_count(&token), 1);
}

/// Counts its drop; that of number 2 then panics.
struct Fragile {
    number: u32,
    drops: Arc<AtomicI64>,
}

impl Drop for Fragile {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::Relaxed);
        assert_ne!(self.number, 2, "fragile");
    }
}

#[test]
fn a_panicking_destructor_leaves_the_others_to_be_dropped() {
    let drops = Arc::new(AtomicI64::new(0));
    let queue = BoundedQueue::<_>::new(capacity(10));
    let (sender, receiver) = bounded_channel(capacity(10));
    for number in 0..10 {
        let fragile = || Fragile {
            number,
            drops: Arc::clone(&drops),
        };
        assert!(queue.push(fragile()).is_ok());
        assert!(sender.push(fragile()).is_ok());
    }
    let panics = |drop: &mut dyn FnMut()| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(drop)).is_err()
    };
    let mut queue = Some(queue);
    assert!(panics(&mut || drop(queue.take())));
    assert_eq!(drops.load(Ordering::Relaxed), 10);

    // Those behind the one that panics stay until the last end goes.
    let mut receiver = Some(receiver);
    assert!(panics(&mut || drop(receiver.take())));
    assert_eq!(drops.load(Ordering::Relaxed), 13);
    drop(sender);
    assert_eq!(drops.load(Ordering::Relaxed), 20);
}

/// Four producers, a consumer that mixes `drain` and `pop`: every accepted event arrives, once, and
/// each producer's arrive in order. At no time are more events accepted and not delivered than the
/// capacity: `held` is raised after a push was accepted, and lowered after its event arrived, so it
/// may be late by the one event of each thread, and never early.
#[test]
fn four_producers() {
    const EACH: u64 = 20_000;
    for limit in [1, 3, 64] {
        let held = Arc::new(AtomicI64::new(0));
        let (sender, mut receiver) = bounded_channel(capacity(limit));
        let producers: Vec<_> = (0..4_u64)
            .map(|producer| {
                let (sender, held) = (sender.clone(), Arc::clone(&held));
                thread::spawn(move || {
                    for number in 0..EACH {
                        let mut event = (producer, Box::new(number));
                        while let Err(refused) = sender.push(event) {
                            assert!(refused.is_full());
                            event = refused.into_inner();
                            thread::yield_now();
                        }
                        held.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let mut expected = BTreeMap::from([(0, 0), (1, 0), (2, 0), (3, 0)]);
        let mut check = |(producer, number): (u64, Box<u64>)| {
            let next = expected.get_mut(&producer).unwrap();
            assert_eq!(*number, *next);
            *next += 1;
            held.fetch_sub(1, Ordering::Relaxed)
        };
        let mut received = 0;
        let mut most = 0;
        while received < 4 * EACH {
            if let Some(event) = receiver.pop() {
                most = most.max(check(event));
                received += 1;
            }
            let drained = receiver.drain(|event| most = most.max(check(event)));
            received += drained as u64;
            if drained == 0 {
                thread::yield_now();
            }
        }
        for producer in producers {
            producer.join().unwrap();
        }
        assert!(receiver.is_empty());
        // One more: the event in the consumer's hand.
        assert!(most <= i64::from(limit) + 1, "{most} of {limit}");
        assert_eq!(expected.into_values().collect::<Vec<_>>(), [EACH; 4]);
    }
}

/// The receiver goes away while four producers push: each event is accepted and dropped, or handed
/// back.
#[test]
fn closing_under_fire() {
    for round in 0..50 {
        let token = Arc::new(());
        let (sender, mut receiver) = bounded_channel(capacity(5));
        let producers: Vec<_> = (0..4)
            .map(|_| {
                let (sender, token) = (sender.clone(), Arc::clone(&token));
                thread::spawn(move || {
                    let mut accepted = 0;
                    loop {
                        match sender.push(Arc::clone(&token)) {
                            Ok(()) => accepted += 1,
                            Err(Refused::Full(_)) => thread::yield_now(),
                            Err(Refused::Closed(_)) => break accepted,
                        }
                    }
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
        assert!((received..=received + 5).contains(&accepted));
        assert_eq!(Arc::strong_count(&token), 1);
    }
}
