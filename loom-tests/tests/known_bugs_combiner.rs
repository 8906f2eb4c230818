//! Broken combiners, each with a tempting mistake that the models must catch. A sound twin has no
//! mistake.

use filch_models::{Bound, beside};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, Mutex};

/// The mistake of the broken combiner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// The signal comes before the event.
    SignalFirst,
    /// The driver leaves by a store of zero.
    LeaveByStore,
    /// The driver leaves after one pass, even if signals have come.
    OnePass,
    /// A thread that runs work looks for a driver, and then says that it is the driver.
    EnterByStore,
    /// A thread that has run work does not look for events.
    NoLook,
}

/// The real combiner, except for `bug`. Its queue is a vector under a lock, its state the number of
/// applied events.
struct Toy {
    bug: Bug,
    events: Mutex<Vec<u32>>,
    signals: AtomicUsize,
    applied: AtomicUsize,
    /// Threads at the state.
    drivers: AtomicUsize,
}

impl Toy {
    fn has(&self, bug: Bug) -> bool {
        self.bug == bug
    }

    fn submit(&self, event: u32) {
        let push = || self.events.lock().unwrap().push(event);
        if !self.has(Bug::SignalFirst) {
            push();
        }
        let drives = self.signals.fetch_add(1, Ordering::AcqRel) == 0;
        if drives {
            self.drain();
            self.leave();
        }
        if self.has(Bug::SignalFirst) {
            push();
        }
    }

    /// Applies an event without a queue, if no thread is at the state. Returns whether it did.
    fn run(&self) -> bool {
        let entered = if self.has(Bug::EnterByStore) {
            let is_free = self.signals.load(Ordering::Acquire) == 0;
            if is_free {
                self.signals.store(1, Ordering::Release);
            }
            is_free
        } else {
            let entered = self
                .signals
                .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed);
            entered.is_ok()
        };
        if entered {
            self.apply(1);
            if self.has(Bug::NoLook) {
                self.signals.fetch_sub(1, Ordering::AcqRel);
            } else {
                self.leave();
            }
        }
        entered
    }

    fn call(&self, event: u32) {
        if !self.run() {
            self.submit(event);
        }
    }

    fn apply(&self, events: usize) {
        let others = self.drivers.fetch_add(1, Ordering::Relaxed);
        assert_eq!(others, 0, "two threads at the state");
        self.applied.fetch_add(events, Ordering::Relaxed);
        self.drivers.fetch_sub(1, Ordering::Relaxed);
    }

    fn drain(&self) {
        let events = std::mem::take(&mut *self.events.lock().unwrap());
        self.apply(events.len());
    }

    fn leave(&self) {
        let mut seen = 1;
        loop {
            if self.has(Bug::LeaveByStore) {
                self.signals.store(0, Ordering::Release);
                return;
            }
            let before = self.signals.fetch_sub(seen, Ordering::AcqRel);
            // Below zero only with a mistake.
            let left = before.wrapping_sub(seen);
            if left == 0 || self.has(Bug::OnePass) {
                return;
            }
            seen = left;
            self.drain();
        }
    }
}

fn toy(bug: Bug) -> Arc<Toy> {
    Arc::new(Toy {
        bug,
        events: Mutex::new(Vec::new()),
        signals: AtomicUsize::new(0),
        applied: AtomicUsize::new(0),
        drivers: AtomicUsize::new(0),
    })
}

/// Two threads do this with an event each; when they have returned, both have been applied.
fn two(bug: Bug, does: fn(&Toy, u32)) {
    let toy = toy(bug);
    let other = beside(&toy, move |toy| does(toy, 2));
    does(&toy, 1);
    other.join().unwrap();
    let applied = toy.applied.load(Ordering::Relaxed);
    assert_eq!(applied, 2, "an event is left behind");
}

/// Two threads submit.
#[test]
fn two_events() {
    Bound::exhaustive(55).check_and_refute(
        "the signal after the event, and what was seen is subtracted",
        |bug| two(bug, Toy::submit),
        &[
            // The driver has seen the signal, finds no event behind it, and leaves.
            (Bug::SignalFirst, "an event is left behind"),
            // A signal comes between the driver's pass and its store, which overwrites it.
            (Bug::LeaveByStore, "an event is left behind"),
            // A signal comes during the driver's pass; the count never comes to zero again.
            (Bug::OnePass, "an event is left behind"),
        ],
    );
}

/// Two threads run work, or submit it.
#[test]
fn two_calls() {
    Bound::exhaustive(14).check_and_refute(
        "work that enters by an exchange, and looks for events when it leaves",
        |bug| two(bug, Toy::call),
        &[
            // Both threads see that there is no driver.
            (Bug::EnterByStore, "two threads at the state"),
            // An event is submitted while the work runs.
            (Bug::NoLook, "an event is left behind"),
        ],
    );
}
