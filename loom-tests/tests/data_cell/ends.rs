//! The end of one cell.

use filch_data_cell::DataCell;
use filch_data_cell::LockError::{Ended, Held};
use filch_models::{Bound, beside};
use filch_sync::Arc;

use super::read;

/// Two threads: one reads, the other takes the value. The value is a loom `Arc`: loom reports it if
/// it is dropped twice or not at all. Failure: a race, a leak, or both refused.
#[test]
fn a_reader_beside_the_end() {
    Bound::exhaustive(25)
        .outcomes("a reader races the end", || {
            let cell = Arc::new(DataCell::new(Arc::new(7)));
            let reader = beside(&cell, |cell| cell.try_read(|value| **value));
            let taken = cell.try_end().map(|value| *value);
            let seen = reader.join().unwrap();
            assert_eq!(cell.is_ended(), taken.is_ok());
            (taken, seen)
        })
        .assert_exactly([
            (Ok(7), Ok(7)),
            (Ok(7), Err(Held)),
            (Ok(7), Err(Ended)),
            (Err(Held), Ok(7)),
        ]);
}

/// Three threads: one writes, one reads, one takes the value and changes it. The taken value is the
/// last writer's, and nobody else looks at it any more. Failure: a race, or a value that nobody
/// wrote.
#[test]
fn the_end_sees_all_before() {
    Bound::exhaustive(4_700)
        .outcomes("a writer and a reader race the end", || {
            let cell = Arc::new(DataCell::new(0));
            let writer = beside(&cell, |cell| cell.try_write(|value| *value = 7).is_ok());
            let reader = beside(&cell, |cell| read(cell).is_ok());
            let taken = cell.try_end();
            let [written, seen] = [writer, reader].map(|thread| thread.join().unwrap());
            match taken {
                Ok(value) => assert!(value == 0 || written, "written by nobody"),
                Err(_) => assert!(written || seen, "refused by nobody"),
            }
            (taken, written, seen)
        })
        .assert_exactly([
            (Ok(0), false, false),
            (Ok(0), false, true),
            (Ok(7), true, false),
            (Ok(7), true, true),
            (Err(Held), false, true),
            (Err(Held), true, false),
            (Err(Held), true, true),
        ]);
}

/// Two threads take the value. One gets it. Failure: both, or none.
#[test]
fn one_of_two_ends() {
    Bound::exhaustive(10)
        .outcomes("two ends", || {
            let cell = Arc::new(DataCell::new(Arc::new(7)));
            let other = beside(&cell, |cell| cell.try_end().map(|value| *value));
            let mine = cell.try_end().map(|value| *value);
            (mine, other.join().unwrap())
        })
        .assert_exactly([
            (Ok(7), Err(Held)),
            (Ok(7), Err(Ended)),
            (Err(Held), Ok(7)),
            (Err(Ended), Ok(7)),
        ]);
}
