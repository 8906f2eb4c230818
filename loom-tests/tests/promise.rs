//! Models of the promise, through which the exit of a spawned future reaches the one that awaits
//! it. loom reports a lost wake-up as a deadlock, and a cell that two ends touch at once as a race.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc as StdArc;
use std::task::{Context, Poll};

use filch_models::{Bound, beside, beside_both};
use filch_parker::Parker;
use filch_promise::{Promised, promise};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, thread};

use crate::awake::Awake;

fn poll<T>(promised: &mut Promised<T>, waker: &StdArc<Awake>) -> Poll<T> {
    let waker = waker.waker();
    Pin::new(promised).poll(&mut Context::from_waker(&waker))
}

/// Two threads: one resolves, the other polls, and sleeps if there is nothing yet. The resolver
/// comes before the poll, between its look and the moment when its waker is in its cell, or after.
/// Failure: a deadlock, when the waker was put there and nobody woke it; the value unseen; a race
/// on one of the cells.
#[test]
fn the_sleeper_is_woken_and_sees_the_value() {
    Bound::exhaustive(60)
        .outcomes("resolve races the first poll", || {
            let before = Arc::new(AtomicUsize::new(0));
            let (resolver, mut promised) = promise();
            let resolving = beside(&before, |before| {
                before.store(1, Ordering::Relaxed);
                resolver.resolve(Box::new(7));
            });
            let parker = Parker::new();
            let waker = Awake::new(&parker);
            let mut sleeps = 0;
            let value = loop {
                match poll(&mut promised, &waker) {
                    Poll::Ready(value) => break value,
                    Poll::Pending => parker.park(),
                }
                sleeps += 1;
            };
            assert_eq!(*value, 7);
            assert_eq!(before.load(Ordering::Relaxed), 1, "not published");
            resolving.join().unwrap();
            (sleeps, waker.wakes())
        })
        .assert_exactly([(0, 0), (1, 1)]);
}

/// Two threads: one resolves, the other polls with one waker, again with another, and then sleeps
/// until that one is woken. The resolver comes before, between, during the exchange, or after.
/// Failure: a deadlock, when the first waker was woken though the second poll was pending; a race
/// on the waker's cell, when the resolver takes it during the exchange.
#[test]
fn the_last_waker_is_the_one_that_counts() {
    Bound::exhaustive(140)
        .outcomes("resolve races an exchange of wakers", || {
            let (resolver, mut promised) = promise();
            let resolving = thread::spawn(move || resolver.resolve(Box::new(7)));
            let (first_parker, second_parker) = (Parker::new(), Parker::new());
            let (first, second) = (Awake::new(&first_parker), Awake::new(&second_parker));
            let polls = 'ready: {
                if poll(&mut promised, &first).is_ready() {
                    break 'ready 1;
                }
                if poll(&mut promised, &second).is_ready() {
                    break 'ready 2;
                }
                second_parker.park();
                assert!(poll(&mut promised, &second).is_ready(), "woken for nothing");
                3
            };
            resolving.join().unwrap();
            let woken = [&first, &second].map(|waker| waker.wakes());
            (polls, woken[0], woken[1])
        })
        // The second poll finds the value: either the resolver woke the first waker, or it came
        // during the exchange, when there was none.
        .assert_exactly([(1, 0, 0), (2, 1, 0), (2, 0, 0), (3, 0, 1)]);
}

/// Two threads: one resolves, the other polls once and gives up. The last to come drops the value
/// and the waker, once each. Failure: a leak, or a double drop, of the loom `Arc`s in them.
#[test]
fn nothing_leaks_when_nobody_awaits() {
    Bound::exhaustive(60)
        .outcomes("resolve races the drop of its future", || {
            let (resolver, mut promised) = promise();
            let (value, before) = (Arc::new(7), Arc::new(AtomicUsize::new(0)));
            let resolving = beside_both(&value, &before, move |value, before| {
                before.store(1, Ordering::Relaxed);
                resolver.resolve(value);
            });
            let parker = Parker::new();
            let waker = Awake::new(&parker);
            let polled = poll(&mut promised, &waker).is_ready();
            let seen = promised.is_resolved();
            if seen {
                assert_eq!(before.load(Ordering::Relaxed), 1, "not published");
            }
            drop(promised);
            resolving.join().unwrap();
            assert_eq!(StdArc::strong_count(&waker), 1, "its clone is gone");
            assert_eq!(Arc::strong_count(&value), 1, "and so is the value's");
            let woken = waker.wakes();
            assert!(seen || !polled, "it was resolved before");
            (polled, woken)
        })
        // The first of the two takes the waker: the resolver wakes it, the drop does not.
        .assert_exactly([(true, 0), (false, 0), (false, 1)]);
}

/// Two threads: one puts two values of different types into their places, does something else, and
/// then gives both; the other polls for the first, sleeps until it is there, and has given up the
/// second. Failure: a value that is seen before it is given; a deadlock; a leak of a promise whose
/// type nobody knows any more, or of its value.
#[test]
fn what_is_prepared_is_seen_when_it_is_given() {
    Bound::exhaustive(60)
        .outcomes("the drop of two prepared promises races a poll", || {
            let before = Arc::new(AtomicUsize::new(0));
            let (resolver, mut promised) = promise();
            let (unwanted, given_up) = promise();
            let value = Arc::new(7);
            let preparing = beside_both(&before, &value, move |before, value| {
                let prepared = [resolver.prepare(Box::new(7)), unwanted.prepare(value)];
                before.store(1, Ordering::Relaxed);
                drop(prepared);
            });
            drop(given_up);
            let parker = Parker::new();
            let waker = Awake::new(&parker);
            let mut sleeps = 0;
            let value_seen = loop {
                match poll(&mut promised, &waker) {
                    Poll::Ready(value) => break value,
                    Poll::Pending => parker.park(),
                }
                sleeps += 1;
            };
            assert_eq!(before.load(Ordering::Relaxed), 1, "it was not given yet");
            assert_eq!(*value_seen, 7);
            preparing.join().unwrap();
            assert_eq!(Arc::strong_count(&value), 1, "it went with its promise");
            (sleeps, waker.wakes())
        })
        .assert_exactly([(0, 0), (1, 1)]);
}
