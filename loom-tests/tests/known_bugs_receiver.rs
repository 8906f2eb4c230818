//! Ways for a receiver to sleep beside an event, or without senders; each caught.
//!
//! The copies keep the two words that matter: the tail, or the count of senders, and the waker.

use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};
use loom_tests::{Bound, beside_both};

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
        let producer = beside_both(&tail, &waker, move |tail, waker| {
            let is_asleep = || waker.load(Ordering::Relaxed) != 0;
            let asked_early = !self.ask_after_the_claim && is_asleep();
            tail.fetch_add(1, Ordering::AcqRel);
            let ask = asked_early || self.ask_after_the_claim && is_asleep();
            ask && waker.swap(0, Ordering::AcqRel) != 0
        });
        waker.swap(1, Ordering::AcqRel);
        let sleeps = (self.look)(&tail) == 0;
        let woken = producer.join().unwrap();
        assert!(woken || !sleeps, "asleep beside an event");
    }
}

#[test]
fn a_receiver_that_looks_by_an_rmw_is_woken() {
    Bound::exhaustive(4).check(
        "a receiver sees the claim, or the claim sees its waker",
        || Sleep::RIGHT.model(),
    );
    // A look by a load: it may be old, and puts the waker before no claim.
    Bound::exhaustive(2).refute(
        "a receiver that has left its waker can look at the tail by a load",
        "asleep beside an event",
        || {
            Sleep {
                look: |tail| tail.load(Ordering::Acquire),
                ..Sleep::RIGHT
            }
            .model();
        },
    );
    // A producer that asks for the waker before it claims: the receiver leaves the waker, and
    // looks, between the two.
    Bound::exhaustive(2).refute(
        "a producer can ask for the waker before its claim",
        "asleep beside an event",
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
    let last = beside_both(&senders, &waker, move |senders, waker| {
        senders.fetch_sub(1, Ordering::Release);
        (swap_in_any_case || waker.load(Ordering::Relaxed) != 0)
            && waker.swap(0, Ordering::AcqRel) != 0
    });
    waker.swap(1, Ordering::AcqRel);
    let sleeps = senders.load(Ordering::Acquire) > 0;
    let woken = last.join().unwrap();
    assert!(woken || !sleeps, "asleep without senders");
}

#[test]
fn a_last_sender_that_swaps_in_any_case_ends_the_sleep() {
    Bound::exhaustive(3).check(
        "a receiver sees that no sender is left, or is woken",
        || last_sender(true),
    );
    // A last sender that looks first, and swaps only where it sees a waker: the look may be
    // old.
    Bound::exhaustive(2).refute(
        "the last sender can leave if it sees no waker",
        "asleep without senders",
        || last_sender(false),
    );
}
