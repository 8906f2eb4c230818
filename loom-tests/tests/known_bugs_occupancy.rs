//! Plausible but wrong ways to reuse a slot, each caught.

use filch_models::{Bound, beside, beside_both};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;

/// `generation << 32 | pins`, without a live bit.
struct Word(AtomicU64);

/// Mistake: the visitor compares the generation first, and pins after that. In between the occupant
/// leaves, the next one moves in, and the visitor reaches that one.
#[test]
fn generation_checked_before_the_pin() {
    Bound::preemptions(3, 2).refute(
        "check the generation, then pin",
        "reached the new occupant",
        || {
            let word = Arc::new(Word(AtomicU64::new(1)));
            let occupant = Arc::new(AtomicUsize::new(0));
            let visitor = beside_both(&word, &occupant, move |word, occupant| {
                if word.0.load(Ordering::Acquire) >> 32 == 0 {
                    word.0.fetch_add(1, Ordering::AcqRel);
                    assert_eq!(
                        occupant.load(Ordering::Relaxed),
                        0,
                        "reached the new occupant"
                    );
                    word.0.fetch_sub(1, Ordering::AcqRel);
                }
            });
            // The occupant leaves, the slot is vacant, and the next one occupies it.
            if word.0.fetch_sub(1, Ordering::AcqRel) == 1
                && word
                    .0
                    .compare_exchange(0, 1 << 32, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok()
            {
                occupant.store(1, Ordering::Relaxed);
                word.0.fetch_add(1, Ordering::AcqRel);
            }
            visitor.join().unwrap();
        },
    );
}

/// Mistake: the thread that brings the pins to zero cleans the slot, without a compare-exchange
/// that ends the occupancy. A visitor that pins and unpins in between brings them to zero a second
/// time.
#[test]
fn the_last_pin_without_an_end_of_the_occupancy() {
    Bound::preemptions(3, 2).refute("zero pins means last", "cleaned twice", || {
        let pins = Arc::new(AtomicU64::new(1));
        let cleaned = Arc::new(AtomicUsize::new(0));
        let visitor = beside_both(&pins, &cleaned, move |pins, cleaned| {
            pins.fetch_add(1, Ordering::AcqRel);
            if pins.fetch_sub(1, Ordering::AcqRel) == 1 {
                cleaned.fetch_add(1, Ordering::Relaxed);
            }
        });
        if pins.fetch_sub(1, Ordering::AcqRel) == 1 {
            cleaned.fetch_add(1, Ordering::Relaxed);
        }
        visitor.join().unwrap();
        assert!(cleaned.load(Ordering::Relaxed) <= 1, "cleaned twice");
    });
}

/// Mistake: pins are given back by a Relaxed subtraction. The count is right, but nothing orders
/// the visitor's read before the cleaning.
#[test]
fn unpin_without_release() {
    struct Slot {
        pins: AtomicU64,
        value: UnsafeCell<u32>,
    }
    // SAFETY: the claim under test, and it is false.
    unsafe impl Sync for Slot {}

    Bound::preemptions(3, 2).refute("unpin relaxed", "Causality violation", || {
        let slot = Arc::new(Slot {
            pins: AtomicU64::new(2),
            value: UnsafeCell::new(7),
        });
        let visitor = beside(&slot, |slot| {
            // SAFETY: under a pin.
            slot.value.with(|value| unsafe { *value });
            slot.pins.fetch_sub(1, Ordering::Relaxed);
        });
        if slot.pins.fetch_sub(1, Ordering::Acquire) == 1 {
            // SAFETY: the claim under test: by the count this is the last pin.
            slot.value.with_mut(|value| unsafe { *value = 0 });
        }
        visitor.join().unwrap();
    });
}
