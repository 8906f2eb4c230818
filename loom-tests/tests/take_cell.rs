//! Models of the cell whose value the first that comes for it takes: a deadline, a cancellation and
//! an answer race for a call by it. loom reports two that touch the value at once as a race, and a
//! value that is dropped by nobody as a leak.
#![cfg(loom)]

use filch_promise::TakeCell;
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

/// Three threads: one writes, and then puts a value into the cell; two come for it. Failure: both
/// have it, or nobody though it was put there, and does not come back; what was written before is
/// not seen; a race on the value; a leak.
#[test]
fn one_of_those_that_come_has_what_is_put_there() {
    let outcomes = Outcomes::new();
    check("a put races two takes", Bound::exhaustive(700), {
        let outcomes = outcomes.clone();
        move || {
            let (cell, before) = (Arc::new(TakeCell::empty()), Arc::new(AtomicUsize::new(0)));
            let takers = [(); 2].map(|()| {
                let (cell, before) = (Arc::clone(&cell), Arc::clone(&before));
                thread::spawn(move || {
                    let value: Option<Arc<usize>> = cell.take();
                    if value.is_some() {
                        assert_eq!(before.load(Ordering::Relaxed), 1, "not published");
                    }
                    value.is_some()
                })
            });
            let value = Arc::new(7);
            before.store(1, Ordering::Relaxed);
            // SAFETY: the cell was made empty, and this is the one put.
            let put = unsafe { cell.put(Arc::clone(&value)) };
            let came_back = put.is_err();
            drop(put);
            let taken = takers.map(|taker| taker.join().unwrap());
            assert!(cell.is_taken());
            assert!(!(taken[0] && taken[1]), "both have it");
            assert_eq!(Arc::strong_count(&value), 1, "it is gone");
            outcomes.observe((came_back, taken[0] || taken[1]));
        }
    });
    outcomes.assert_exactly([(true, false), (false, true)]);
}

/// Two threads: both come for a value that was there from the start, and one of them drops the
/// cell. Failure: both have it, or neither; a race on the value; a leak, or a double drop.
#[test]
fn one_of_two_has_what_was_there() {
    let outcomes = Outcomes::new();
    check("two takes race", Bound::exhaustive(13), {
        let outcomes = outcomes.clone();
        move || {
            let value = Arc::new(7);
            let cell = Arc::new(TakeCell::new(Arc::clone(&value)));
            let other = thread::spawn({
                let cell = Arc::clone(&cell);
                move || cell.take().is_some()
            });
            let mine = cell.take().is_some();
            drop(cell);
            let other = other.join().unwrap();
            assert_eq!(Arc::strong_count(&value), 1, "it is gone");
            outcomes.observe((mine, other));
        }
    });
    outcomes.assert_exactly([(true, false), (false, true)]);
}
