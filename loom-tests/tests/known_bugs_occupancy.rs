//! Plausible ways to let a slot again that are wrong, and what the checker says about them.
#![cfg(loom)]

use filch_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, refute};

/// `generation << 32 | pins`, without a live bit.
struct Word(AtomicU64);

/// Mistake: the visitor compares the generation first and counts itself in afterwards. Between the
/// two the occupant leaves, the slot is let again, and the visitor walks in on a stranger.
#[test]
fn generation_checked_before_the_pin() {
    refute(
        "check the name, then pin",
        "reached the new occupant",
        Bound::preemptions(3, 2),
        || {
            let word = Arc::new(Word(AtomicU64::new(1)));
            let occupant = Arc::new(AtomicUsize::new(0));
            let visitor = thread::spawn({
                let (word, occupant) = (word.clone(), occupant.clone());
                move || {
                    if word.0.load(Ordering::Acquire) >> 32 == 0 {
                        word.0.fetch_add(1, Ordering::AcqRel);
                        assert_eq!(
                            occupant.load(Ordering::Relaxed),
                            0,
                            "reached the new occupant"
                        );
                        word.0.fetch_sub(1, Ordering::AcqRel);
                    }
                }
            });
            // The occupant leaves; nobody is there; the next one moves in.
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

/// Mistake: whoever brings the pins to zero cleans, without a compare-exchange to close the slot. A
/// visitor who pins and leaves in between brings them to zero a second time.
#[test]
fn last_one_out_without_closing_the_door() {
    refute(
        "zero pins means last",
        "cleaned twice",
        Bound::preemptions(3, 2),
        || {
            let pins = Arc::new(AtomicU64::new(1));
            let cleaned = Arc::new(AtomicUsize::new(0));
            let visitor = thread::spawn({
                let (pins, cleaned) = (pins.clone(), cleaned.clone());
                move || {
                    pins.fetch_add(1, Ordering::AcqRel);
                    if pins.fetch_sub(1, Ordering::AcqRel) == 1 {
                        cleaned.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
            if pins.fetch_sub(1, Ordering::AcqRel) == 1 {
                cleaned.fetch_add(1, Ordering::Relaxed);
            }
            visitor.join().unwrap();
            assert!(cleaned.load(Ordering::Relaxed) <= 1, "cleaned twice");
        },
    );
}

/// Mistake: pins are given back with a relaxed subtraction. The count is right, but the last one
/// out cleans what a visitor may still be reading, as far as the memory is concerned.
#[test]
fn unpin_without_release() {
    struct Slot {
        pins: AtomicU64,
        furniture: UnsafeCell<u32>,
    }
    // SAFETY: the claim under test, and it is false.
    unsafe impl Sync for Slot {}

    refute(
        "unpin relaxed",
        "Causality violation",
        Bound::preemptions(3, 2),
        || {
            let slot = Arc::new(Slot {
                pins: AtomicU64::new(2),
                furniture: UnsafeCell::new(7),
            });
            let visitor = thread::spawn({
                let slot = slot.clone();
                move || {
                    // SAFETY: under a pin.
                    slot.furniture.with(|place| unsafe { *place });
                    slot.pins.fetch_sub(1, Ordering::Relaxed);
                }
            });
            if slot.pins.fetch_sub(1, Ordering::Acquire) == 1 {
                // SAFETY: as the count has it, we are the last one out.
                slot.furniture.with_mut(|place| unsafe { *place = 0 });
            }
            visitor.join().unwrap();
        },
    );
}
