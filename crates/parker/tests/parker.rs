//! Parkers on real threads, and against the simplest model: a token is a boolean.

use std::cell::UnsafeCell;
use std::sync::{Arc, mpsc};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

use filch_parker::{AdaptiveSpinner, Parker, Spin};
use proptest::prelude::*;

#[test]
fn a_token_that_is_there_is_taken_at_once() {
    let parker = Parker::new();
    assert!(!parker.unparker().unpark(), "nobody sleeps");
    parker.park();
    assert!(!parker.park_timeout(Duration::ZERO), "it was the only one");
}

#[test]
fn a_waker_leaves_a_token_each_time_that_it_wakes() {
    let parker = Parker::new();
    let waker = Waker::from(Arc::new(parker.unparker()));
    waker.wake_by_ref();
    assert!(parker.park_timeout(Duration::ZERO));
    waker.wake();
    assert!(parker.park_timeout(Duration::ZERO));
    assert!(!parker.park_timeout(Duration::ZERO), "nobody woke it since");
}

#[test]
fn a_deadline_that_has_passed_still_takes_a_token() {
    let parker = Parker::new();
    let now = Instant::now();
    assert!(!parker.park_deadline(now));
    assert!(!parker.unparker().unpark());
    assert!(parker.park_deadline(now));
    assert!(!parker.park_deadline(now));
}

#[test]
fn a_deadline_beyond_all_clocks_never_comes() {
    let parker = Parker::new();
    let unparker = parker.unparker();
    let sleeper = thread::spawn(move || parker.park_timeout(Duration::MAX));
    let _ = unparker.unpark();
    assert!(sleeper.join().unwrap());
}

#[test]
fn a_timeout_is_not_short() {
    let parker = Parker::new();
    let deadline = Instant::now() + Duration::from_millis(3);
    assert!(!parker.park_deadline(deadline));
    assert!(Instant::now() >= deadline);
}

#[test]
fn an_unparker_outlives_its_parker() {
    let unparker = Parker::new().unparker();
    assert!(!unparker.clone().unpark());
    assert!(!unparker.unpark());
}

#[test]
fn a_parker_may_be_handed_to_another_thread() {
    let parker = Parker::new();
    assert!(!parker.unparker().unpark());
    thread::spawn(move || parker.park()).join().unwrap();
}

struct Ball(UnsafeCell<u64>);

// SAFETY: the two threads take turns at it.
unsafe impl Sync for Ball {}

impl Ball {
    /// Takes it, which was to be that, and makes it one more.
    fn hit(&self, expected: u64) {
        // SAFETY: the other thread waits for a token of this one.
        let ball = unsafe { &mut *self.0.get() };
        assert_eq!(*ball, expected);
        *ball += 1;
    }
}

/// Two threads take turns, and only a token tells each that the other is done. Nothing else orders
/// the plain data that they hand over: ThreadSanitizer sees a race if it does not. A lost token
/// hangs the test.
#[test]
fn ping_pong() {
    const ROUNDS: u64 = if cfg!(miri) { 50 } else { 20_000 };
    let ball = Arc::new(Ball(UnsafeCell::new(0)));
    let (here, there) = (Parker::new(), Parker::new());
    let (wake_here, wake_there) = (here.unparker(), there.unparker());
    let other = thread::spawn({
        let ball = Arc::clone(&ball);
        move || {
            for round in 0..ROUNDS {
                there.park();
                ball.hit(2 * round + 1);
                let _ = wake_here.unpark();
            }
        }
    });
    for round in 0..ROUNDS {
        ball.hit(2 * round);
        let _ = wake_there.unpark();
        here.park();
    }
    other.join().unwrap();
}

/// Several producers, one consumer that spins and parks: each item once, in each producer's order.
#[test]
fn many_unparkers_lose_no_item() {
    const PRODUCERS: usize = 3;
    const ITEMS: usize = if cfg!(miri) { 50 } else { 10_000 };
    let parker = Parker::new();
    let (sender, inbox) = mpsc::channel();
    let producers: Vec<_> = (0..PRODUCERS)
        .map(|producer| {
            let (sender, unparker) = (sender.clone(), parker.unparker());
            thread::spawn(move || {
                for item in 0..ITEMS {
                    sender.send((producer, item)).unwrap();
                    let _ = unparker.unpark();
                }
            })
        })
        .collect();
    let mut next = [0; PRODUCERS];
    let mut spinner = AdaptiveSpinner::with_rounds(2, 1);
    while next != [ITEMS; PRODUCERS] {
        if let Ok((producer, item)) = inbox.try_recv() {
            assert_eq!(item, next[producer], "lost, repeated or out of order");
            next[producer] += 1;
            spinner.reset();
        } else if spinner.spin() == Spin::Block {
            parker.park();
            spinner.reset();
        }
    }
    for producer in producers {
        producer.join().unwrap();
    }
}

proptest! {
    /// On one thread no parker is ever asleep, and a timed park says whether there was a token.
    #[test]
    fn a_token_is_a_boolean(unparks in prop::collection::vec(any::<bool>(), 0..64)) {
        let parker = Parker::new();
        let unparker = parker.unparker();
        let mut token = false;
        for unpark in unparks {
            if unpark {
                prop_assert!(!unparker.unpark());
                token = true;
            } else {
                prop_assert_eq!(parker.park_timeout(Duration::ZERO), std::mem::take(&mut token));
            }
        }
    }
}
