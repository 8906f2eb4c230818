//! The safe ends, on real threads where it matters.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use filch_event_queue::{EventQueue, PushError, Receiver, ReopenError, Sender, channel};

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
    assert!(sender.depth().events > 0);
    assert_eq!(drained(&mut receiver), (0..100).collect::<Vec<_>>());
    assert!(receiver.is_empty() && sender.depth().events == 0);
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
    assert!(!sender.is_closed());
    receiver.close();
    assert!(sender.is_closed());
    assert_eq!(sender.push("refused"), Err(PushError::Closed("refused")));
    assert_eq!(receiver.pop(), Some("kept"));
    assert_eq!(receiver.pop(), None);
    receiver.reopen().unwrap();
    assert!(sender.is_closed(), "that life is over");
    assert!(!receiver.sender().is_closed());
}

/// Its destructor pushes.
struct Echo {
    sender: Sender<Option<Echo>>,
    answer: Arc<Mutex<Option<bool>>>,
}

impl Drop for Echo {
    fn drop(&mut self) {
        *self.answer.lock().unwrap() = Some(self.sender.push(None).is_ok());
    }
}

#[test]
fn a_receiver_closes_the_queue_before_it_drops_what_is_left() {
    let (sender, receiver) = channel();
    let answer = Arc::new(Mutex::new(None));
    let echo = Echo {
        sender: sender.clone(),
        answer: Arc::clone(&answer),
    };
    sender.push(Some(echo)).ok().unwrap();
    drop(receiver);
    assert_eq!(*answer.lock().unwrap(), Some(false));
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

    let queue = EventQueue::with_blocks(1, 3);
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
    let queue = EventQueue::with_blocks(2, 2);
    for life in 0..5 {
        for event in 0..7 {
            queue.push((life, event)).unwrap();
        }
        queue.close();
        assert!(queue.push((life, 7)).is_err());
        // SAFETY: one thread.
        assert_eq!(unsafe { queue.pop() }, Some((life, 0)));
        // SAFETY: one thread.
        assert_eq!(unsafe { queue.reopen() }, Err(ReopenError::Unfinished));
        // SAFETY: one thread.
        assert_eq!(unsafe { queue.drain(drop) }, 6);
        assert_eq!(queue.generation(), life);
        // SAFETY: one thread.
        assert_eq!(unsafe { queue.reopen() }, Ok(life + 1));
        assert!(queue.is_empty() && !queue.is_closed());
        // SAFETY: one thread.
        assert_eq!(unsafe { queue.reopen() }, Err(ReopenError::Open));
    }
}

/// Many producers, a consumer that mixes `drain` and `pop`: every event arrives, once, and each
/// producer's events arrive in the order in which it pushed them.
fn producers(count: u64, each: u64) {
    let each = if cfg!(miri) { 50 } else { each };
    let (sender, mut receiver) = channel();
    let producers: Vec<_> = (0..count)
        .map(|producer| {
            let sender = sender.clone();
            thread::spawn(move || {
                for number in 0..each {
                    sender.push((producer, Box::new(number))).unwrap();
                }
            })
        })
        .collect();
    let mut expected: BTreeMap<_, _> = (0..count).map(|producer| (producer, 0)).collect();
    let mut check = |(producer, number): (u64, Box<u64>)| {
        let next = expected.get_mut(&producer).unwrap();
        assert_eq!(*number, *next);
        *next += 1;
    };
    let mut received = 0;
    while received < count * each {
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
    assert!(expected.into_values().all(|next| next == each));
}

#[test]
fn one_producer() {
    producers(1, 80_000);
}

#[test]
fn four_producers() {
    producers(4, 20_000);
}

#[test]
fn a10_eight_producers() {
    producers(8, 10_000);
}

/// Four threads push with the sender that they were given last, while the receiver goes through
/// one life after another. Every event carries the life of its sender: none is delivered in
/// another, and each is delivered or handed back.
#[test]
fn no_event_outlives_its_life() {
    const LIVES: u32 = if cfg!(miri) { 5 } else { 300 };
    let (sender, mut receiver) = channel();
    let current = Mutex::new(sender);
    let accepted = AtomicUsize::new(0);
    let mut delivered = 0;
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let sender = current.lock().unwrap().clone();
                    let life = sender.generation();
                    for _ in 0..100 {
                        match sender.push(life) {
                            // ORDERING: Relaxed: a counter, read after the threads have ended.
                            Ok(()) => accepted.fetch_add(1, Ordering::Relaxed),
                            Err(refused) => {
                                assert_eq!(refused.into_inner(), life);
                                break;
                            }
                        };
                    }
                    if life == LIVES {
                        return;
                    }
                    thread::yield_now();
                }
            });
        }
        for life in 0..=LIVES {
            let mut here = 0;
            while here < 50 {
                here += receiver.drain(|event| assert_eq!(event, life));
                thread::yield_now();
            }
            receiver.close();
            delivered += here;
            if life < LIVES {
                loop {
                    delivered += receiver.drain(|event| assert_eq!(event, life));
                    match receiver.reopen() {
                        Ok(next) => break assert_eq!(next, life + 1),
                        Err(error) => assert_eq!(error, ReopenError::Unfinished),
                    }
                    thread::yield_now();
                }
                *current.lock().unwrap() = receiver.sender();
            }
        }
    });
    delivered += receiver.drain(drop);
    assert_eq!(accepted.into_inner(), delivered);
}

/// The receiver goes away while four producers push: each event is accepted and dropped, or handed
/// back.
#[test]
fn closing_under_fire() {
    for round in (0..50).step_by(if cfg!(miri) { 10 } else { 1 }) {
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
