//! Models of the parker. loom reports a sleep that nobody ends as a deadlock.

use std::time::Duration;

use filch_models::{Bound, beside};
use filch_parker::Parker;
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::thread::{self, JoinHandle};

/// Starts a thread that leaves a token, and returns whether that woke a sleeper.
fn leaves_a_token(parker: &Parker) -> JoinHandle<bool> {
    let unparker = parker.unparker();
    thread::spawn(move || unparker.unpark())
}

/// Starts a thread that writes 7 to `item`, leaves a token, and returns whether that woke a
/// sleeper.
fn publishes(item: &Arc<AtomicUsize>, parker: &Parker) -> JoinHandle<bool> {
    let (item, unparker) = (Arc::clone(item), parker.unparker());
    thread::spawn(move || {
        item.store(7, Ordering::Relaxed);
        unparker.unpark()
    })
}

fn assert_published(item: &AtomicUsize) {
    assert_eq!(item.load(Ordering::Relaxed), 7, "not published");
}

/// Two threads. A token before, during or after the parker goes to sleep ends that sleep, and
/// writes before it are visible. `unpark` finds a sleeper or not; both must occur. Failure: a
/// deadlock, or the item unseen.
#[test]
fn a_token_ends_the_sleep_and_publishes() {
    Bound::exhaustive(18)
        .outcomes("unpark races park", || {
            let item = Arc::new(AtomicUsize::new(0));
            let parker = Parker::new();
            let waker = publishes(&item, &parker);
            parker.park();
            assert_published(&item);
            waker.join().unwrap()
        })
        .assert_exactly([false, true]);
}

/// Three threads: two unparkers, one `park`. An unparker that finds a token must publish its item
/// with that token, and the item of the last unparker before the `park` is visible. So if both
/// answered "nobody slept" and no token is left, both items are visible.
///
/// At most one call is told that it woke the sleeper. Failure: an item is unseen, though its token
/// was taken.
#[test]
fn two_tokens_are_one_and_publish_both() {
    Bound::exhaustive(200_000)
        .outcomes("two unparkers, one park", || {
            let items = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            let parker = Parker::new();
            let wakers = [0, 1].map(|number| {
                let (items, unparker) = (Arc::clone(&items), parker.unparker());
                thread::spawn(move || {
                    items[number].store(1, Ordering::Relaxed);
                    unparker.unpark()
                })
            });
            parker.park();
            let seen = [0, 1].map(|number| items[number].load(Ordering::Relaxed));
            let woke = wakers.map(|waker| waker.join().unwrap());
            let token_left = parker.park_timeout(Duration::ZERO);
            assert!(!(woke[0] && woke[1]), "one sleep, and two woke it");
            assert!(seen != [0, 0], "a token that published nothing");
            assert!(token_left || seen == [1, 1], "a token was swallowed");
            (woke[0] || woke[1], token_left, seen == [1, 1])
        })
        .assert_exactly([
            (false, false, true),
            (false, true, true),
            (false, true, false),
            (true, false, true),
            (true, true, true),
            (true, true, false),
        ]);
}

/// Two threads, no spare time: the real use. The parker looks for items and parks if it finds none;
/// the other leaves two items, each with a token. Failure: it sleeps beside an item, a deadlock.
#[test]
fn a_loop_that_looks_and_parks_finds_everything() {
    Bound::exhaustive(1_400)
        .outcomes("look, park, look again", || {
            let items = Arc::new(AtomicUsize::new(0));
            let parker = Parker::new();
            let producer = thread::spawn({
                let (items, unparker) = (Arc::clone(&items), parker.unparker());
                move || {
                    for _ in 0..2 {
                        items.fetch_add(1, Ordering::Relaxed);
                        let _ = unparker.unpark();
                    }
                }
            });
            let mut parks = 0;
            while items.load(Ordering::Relaxed) < 2 {
                parker.park();
                parks += 1;
            }
            producer.join().unwrap();
            parks
        })
        .assert_exactly([0, 1, 2]);
}

/// Two threads. The wait may end by its time at any moment. The answer is "woken" only if the token
/// was taken; a token that comes too late stays. Failure: a token lost, or counted as a wake-up and
/// left behind.
#[test]
fn a_timeout_races_a_token() {
    Bound::exhaustive(24)
        .outcomes("a timeout races unpark", || {
            let item = Arc::new(AtomicUsize::new(0));
            let parker = Parker::new();
            let waker = publishes(&item, &parker);
            let took = parker.park_timeout(Duration::from_secs(1));
            if took {
                assert_published(&item);
            }
            let woke = waker.join().unwrap();
            let left = parker.park_timeout(Duration::ZERO);
            assert_ne!(took, left, "one token, taken once");
            (took, woke)
        })
        .assert_exactly([(false, false), (true, false), (true, true)]);
}

/// Two threads. A token that ended one sleep does not end the next; a timed-out sleep does not take
/// the token of the next one.
#[test]
fn a_sleep_after_a_timeout() {
    Bound::exhaustive(65)
        .outcomes("a timeout, then a sleep", || {
            let parker = Parker::new();
            let waker = leaves_a_token(&parker);
            let took = parker.park_timeout(Duration::from_secs(1));
            if !took {
                parker.park();
            }
            let woke = waker.join().unwrap();
            assert!(!parker.park_timeout(Duration::ZERO), "a second token");
            (took, woke)
        })
        .assert_exactly([(true, true), (true, false), (false, true), (false, false)]);
}

/// Two threads that wake each other in turn: each publishes with its token, and receives with the
/// other's. Failure: a deadlock, or an old ball.
#[test]
fn ping_pong() {
    Bound::exhaustive(85).check("ping-pong", || {
        let ball = Arc::new(AtomicUsize::new(0));
        let (here, there) = (Parker::new(), Parker::new());
        let (wake_here, wake_there) = (here.unparker(), there.unparker());
        let other = beside(&ball, move |ball| {
            there.park();
            assert_eq!(ball.load(Ordering::Relaxed), 1);
            ball.store(2, Ordering::Relaxed);
            let _ = wake_here.unpark();
        });
        ball.store(1, Ordering::Relaxed);
        let _ = wake_there.unpark();
        here.park();
        assert_eq!(ball.load(Ordering::Relaxed), 2);
        other.join().unwrap();
    });
}

/// Two threads. The parker is gone when its token comes: the shared part lives on. Failure: loom
/// reports a leak.
#[test]
fn an_unparker_outlives_the_parker() {
    Bound::exhaustive(70).check("unpark races drop", || {
        let parker = Parker::new();
        let waker = leaves_a_token(&parker);
        let _ = parker.park_timeout(Duration::ZERO);
        drop(parker);
        let _ = waker.join().unwrap();
    });
}
