//! Poison: a writer that panics.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use filch_data_cell::DataCell;
use filch_data_cell::LockError::{Held, Poisoned};
use filch_models::{Bound, beside};
use filch_sync::Arc;

use super::read;

/// Writes 7 and panics, if it is let in; returns whether it was.
fn write_and_panic(cell: &DataCell<u32>) -> bool {
    catch_unwind(AssertUnwindSafe(|| {
        cell.try_write(|value| {
            *value = 7;
            // Like a panic, but without its message.
            resume_unwind(Box::new("half changed"));
        })
    }))
    .is_err()
}

/// Two threads: a writer panics; the other reads. If the reader finds poison, it clears it and
/// reads what the writer left. Failure: half-changed data without poison, a race, or data older
/// than the poison.
#[test]
fn poison_comes_with_the_data() {
    Bound::exhaustive(25)
        .outcomes("a panic races a reader", || {
            let cell = Arc::new(DataCell::new(0));
            let writer = beside(&cell, write_and_panic);
            let seen = read(&cell);
            if seen == Err(Poisoned) {
                assert!(cell.is_poisoned() && cell.clear_poison());
                assert_eq!(read(&cell), Ok(7), "older than the poison");
            }
            let written = writer.join().unwrap();
            (written, seen)
        })
        .assert_exactly([
            (false, Ok(0)),
            (true, Ok(0)),
            (true, Err(Held)),
            (true, Err(Poisoned)),
        ]);
}

/// Three threads: a writer panics, one thread clears poison, one writes. A writer that is let in
/// after the clearing sees the data. Failure: a race of the two writers, which only the clearing
/// thread orders.
#[test]
fn poison_that_a_third_has_cleared() {
    Bound::exhaustive(1_100)
        .outcomes("a panic, its clearing and a writer", || {
            let cell = Arc::new(DataCell::new(0));
            let writer = beside(&cell, write_and_panic);
            let clearer = beside(&cell, DataCell::clear_poison);
            let found = cell.try_write(|value| std::mem::replace(value, 1));
            let written = writer.join().unwrap();
            let cleared = clearer.join().unwrap();
            assert_eq!(cell.is_poisoned(), written && !cleared);
            (found, written, cleared)
        })
        .assert_exactly([
            (Ok(0), false, false),
            (Ok(0), true, false),
            (Ok(0), true, true),
            (Ok(7), true, true),
            (Err(Held), true, false),
            (Err(Held), true, true),
            (Err(Poisoned), true, false),
            (Err(Poisoned), true, true),
        ]);
}

/// Three threads: a writer panics, one clears poison, and the owner takes the value, whether the
/// cell is poisoned or not. Failure: a race; `Poisoned`, which an owner never gets; or the owner
/// refused while nobody has the cell.
#[test]
fn an_end_of_what_is_poisoned() {
    Bound::exhaustive(1_100)
        .outcomes("a panic and its clearing race the end", || {
            let cell = Arc::new(DataCell::new(0));
            let writer = beside(&cell, write_and_panic);
            let clearer = beside(&cell, DataCell::clear_poison);
            let taken = cell.try_end();
            let written = writer.join().unwrap();
            assert!(written || taken == Ok(0), "refused by nobody");
            (taken, clearer.join().unwrap())
        })
        .assert_exactly([
            (Ok(0), false),
            (Ok(7), false),
            (Ok(7), true),
            (Err(Held), false),
            (Err(Held), true),
        ]);
}

/// Two threads: one clears the poison of a cell, and the owner takes the value. Nobody holds the
/// cell, so the owner gets it, even if the poison is cleared between its look and its exchange.
/// Failure: the owner refused.
#[test]
fn an_end_while_poison_is_cleared() {
    Bound::exhaustive(15)
        .outcomes("clearing races the end", || {
            let cell = Arc::new(DataCell::new(0));
            assert!(write_and_panic(&cell));
            let clearer = beside(&cell, DataCell::clear_poison);
            let taken = cell.try_end();
            (taken, clearer.join().unwrap())
        })
        .assert_exactly([(Ok(7), false), (Ok(7), true)]);
}
