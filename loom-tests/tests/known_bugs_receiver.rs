//! Ways for a receiver to sleep beside an event, or without senders; each caught.
//!
//! The copies keep the two words that matter: the tail, or the count of senders, and the waker.
#![cfg(loom)]

use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, check, refute};

/// A receiver that leaves its waker and looks once more, and a producer that claims and asks for
/// the waker: what each of the two does is only this.
#[derive(Clone, Copy)]
struct Sleep {
    /// The receiver's look at the tail, once it has left its waker.
    look: fn(&AtomicUsize) -> usize,
    /// `true` if the producer asks for the waker after its claim, `false` if before.
    ask_after_the_claim: bool,
}

impl Sleep {
    const RIGHT: Self = Self {
        look: |tail| tail.fetch_or(0, Ordering::AcqRel),
        ask_after_the_claim: true,
    };

    fn model(self) {
        let tail = Arc::new(AtomicUsize::new(0));
        let waker = Arc::new(AtomicUsize::new(0));
        let producer = thread::spawn({
            let (tail, waker) = (tail.clone(), waker.clone());
            move || {
                let is_asleep = || waker.load(Ordering::Relaxed) != 0;
                let asked_early = !self.ask_after_the_claim && is_asleep();
                tail.fetch_add(1, Ordering::AcqRel);
                let ask = asked_early || self.ask_after_the_claim && is_asleep();
                ask && waker.swap(0, Ordering::AcqRel) != 0
            }
        });
        waker.swap(1, Ordering::AcqRel);
        let sleeps = (self.look)(&tail) == 0;
        let woken = producer.join().unwrap();
        assert!(woken || !sleeps, "asleep beside an event");
    }
}

/// The control.
#[test]
fn a_receiver_that_looks_by_an_rmw_is_woken() {
    check(
        "a receiver sees the claim, or the claim sees its waker",
        Bound::exhaustive(4),
        || Sleep::RIGHT.model(),
    );
}

/// A look by a load: it may be old, and puts the waker before no claim.
#[test]
fn a_receiver_that_looks_by_a_load_sleeps_beside_an_event() {
    refute(
        "a receiver that has left its waker can look at the tail by a load",
        "asleep beside an event",
        Bound::exhaustive(2),
        || {
            Sleep {
                look: |tail| tail.load(Ordering::Acquire),
                ..Sleep::RIGHT
            }
            .model();
        },
    );
}

/// A producer that asks for the waker before it claims: the receiver leaves the waker, and looks,
/// between the two.
#[test]
fn a_producer_that_asks_before_its_claim_wakes_nobody() {
    refute(
        "a producer can ask for the waker before its claim",
        "asleep beside an event",
        Bound::exhaustive(2),
        || {
            Sleep {
                ask_after_the_claim: false,
                ..Sleep::RIGHT
            }
            .model();
        },
    );
}

/// The last sender goes, and a receiver leaves its waker and then asks whether there are senders.
/// The sender swaps the waker in any case, or only if it sees one.
fn last_sender(swap_in_any_case: bool) {
    let senders = Arc::new(AtomicUsize::new(1));
    let waker = Arc::new(AtomicUsize::new(0));
    let last = thread::spawn({
        let (senders, waker) = (senders.clone(), waker.clone());
        move || {
            senders.fetch_sub(1, Ordering::Release);
            (swap_in_any_case || waker.load(Ordering::Relaxed) != 0)
                && waker.swap(0, Ordering::AcqRel) != 0
        }
    });
    waker.swap(1, Ordering::AcqRel);
    let sleeps = senders.load(Ordering::Acquire) > 0;
    let woken = last.join().unwrap();
    assert!(woken || !sleeps, "asleep without senders");
}

/// The control.
#[test]
fn a_last_sender_that_swaps_in_any_case_ends_the_sleep() {
    check(
        "a receiver sees that no sender is left, or is woken",
        Bound::exhaustive(3),
        || last_sender(true),
    );
}

/// A last sender that looks first, and swaps only where it sees a waker: the look may be old.
#[test]
fn a_last_sender_that_looks_for_the_waker_first_wakes_nobody() {
    refute(
        "the last sender can leave if it sees no waker",
        "asleep without senders",
        Bound::exhaustive(2),
        || last_sender(false),
    );
}
