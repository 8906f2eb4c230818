//! Broken combiners, each with a tempting mistake, which the models must catch. The model is there
//! once more for the combiner without a mistake.
#![cfg(loom)]

use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, Mutex, thread};
use loom_tests::{Bound, check, refute};

/// Where the broken combiner differs from the real one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    /// The signal comes before the event.
    SignalFirst,
    /// The driver leaves by a store of zero.
    LeaveByStore,
    /// The driver leaves after one pass, whatever signals have come.
    OnePass,
}

/// The real combiner, except for `bug`. Its queue is a vector under a lock, its state the number of
/// events that were applied.
struct Toy {
    bug: Option<Bug>,
    events: Mutex<Vec<u32>>,
    signals: AtomicUsize,
    applied: AtomicUsize,
}

impl Toy {
    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn submit(&self, event: u32) {
        let push = || self.events.lock().unwrap().push(event);
        if !self.has(Bug::SignalFirst) {
            push();
        }
        let drives = self.signals.fetch_add(1, Ordering::AcqRel) == 0;
        if drives {
            self.drive();
        }
        if self.has(Bug::SignalFirst) {
            push();
        }
    }

    fn drive(&self) {
        let mut seen = 1;
        loop {
            let events = std::mem::take(&mut *self.events.lock().unwrap());
            self.applied.fetch_add(events.len(), Ordering::Relaxed);
            if self.has(Bug::LeaveByStore) {
                self.signals.store(0, Ordering::Release);
                return;
            }
            let left = self.signals.fetch_sub(seen, Ordering::AcqRel) - seen;
            if left == 0 || self.has(Bug::OnePass) {
                return;
            }
            seen = left;
        }
    }
}

/// Two threads submit an event each; both have been applied when they have returned.
fn two_events(bug: Option<Bug>) {
    let toy = Arc::new(Toy {
        bug,
        events: Mutex::new(Vec::new()),
        signals: AtomicUsize::new(0),
        applied: AtomicUsize::new(0),
    });
    let other = thread::spawn({
        let toy = Arc::clone(&toy);
        move || toy.submit(2)
    });
    toy.submit(1);
    other.join().unwrap();
    let applied = toy.applied.load(Ordering::Relaxed);
    assert_eq!(applied, 2, "an event is left behind");
}

/// The control: the same model, of the combiner without a mistake.
#[test]
fn two_events_without_a_bug() {
    check(
        "the signal after the event, and what was seen is subtracted",
        Bound::exhaustive(55),
        || two_events(None),
    );
}

fn refuted(claim: &str, bug: Bug) {
    refute(
        claim,
        "an event is left behind",
        Bound::exhaustive(2),
        move || {
            two_events(Some(bug));
        },
    );
}

/// The driver has seen the signal, finds no event behind it, and leaves.
#[test]
fn a_signal_before_its_event() {
    refuted("the signal comes before the event", Bug::SignalFirst);
}

/// A signal comes between the driver's pass and its store, which overwrites it.
#[test]
fn a_driver_that_leaves_by_a_store() {
    refuted("the driver leaves by a store", Bug::LeaveByStore);
}

/// A signal comes during the driver's pass; the count never comes to zero again.
#[test]
fn a_driver_that_makes_one_pass() {
    refuted("the driver leaves after one pass", Bug::OnePass);
}
