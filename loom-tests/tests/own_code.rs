//! Models of somebody's own code: the example of `filch-models`.

// ANCHOR: code
use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::cell::UnsafeCell;

/// A place for one value, from one thread to another.
struct Slot {
    value: UnsafeCell<u32>,
    is_full: AtomicBool,
}

impl Slot {
    fn put(&self, value: u32, publish: Ordering) {
        // SAFETY: nobody reads before the place is full.
        self.value.with_mut(|place| unsafe { *place = value });
        self.is_full.store(true, publish);
    }

    fn take(&self) -> Option<u32> {
        let is_full = self.is_full.load(Ordering::Acquire);
        // SAFETY: full, so nobody writes.
        is_full.then(|| self.value.with(|place| unsafe { *place }))
    }
}
// ANCHOR_END: code

// SAFETY: loom checks who touches the value when.
unsafe impl Sync for Slot {}

// ANCHOR: model
use filch_models::{Bound, beside};
use filch_sync::Arc;

/// One thread puts a value in, and another one looks.
fn hand_over(publish: Ordering) -> Option<u32> {
    let slot = Arc::new(Slot {
        value: UnsafeCell::new(0),
        is_full: AtomicBool::new(false),
    });
    let putting = beside(&slot, move |slot| slot.put(7, publish));
    let taken = slot.take();
    putting.join().unwrap();
    taken
}

#[test]
fn a_value_is_there_or_not() {
    let claim = "a slot that is full has its value";
    let outcomes = Bound::exhaustive(2).outcomes(claim, || hand_over(Ordering::Release));
    outcomes.assert_exactly([None, Some(7)]);
}

#[test]
fn a_slot_that_is_published_early_is_refuted() {
    let claim = "the same, published Relaxed";
    Bound::exhaustive(1).refute(claim, "Causality violation", || {
        hand_over(Ordering::Relaxed);
    });
}
// ANCHOR_END: model
