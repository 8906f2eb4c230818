//! Readers and writers of one cell.

use filch_data_cell::DataCell;
use filch_data_cell::LockError::Held;
use filch_models::{Bound, beside};
use filch_sync::Arc;

use super::read;

/// Returns the cell's value at the end, when nobody holds the cell.
fn at_the_end(cell: &DataCell<u32>) -> u32 {
    cell.try_end().expect("left locked")
}

/// Two threads: one writes 7, the other reads. They come one after the other, or one of them
/// refuses the other. Failure: both are refused, or a race.
#[test]
fn a_writer_beside_a_reader() {
    Bound::exhaustive(25)
        .outcomes("a writer races a reader", || {
            let cell = Arc::new(DataCell::new(0));
            let writer = beside(&cell, |cell| cell.try_write(|value| *value = 7));
            let seen = read(&cell);
            let written = writer.join().unwrap();
            assert_eq!(at_the_end(&cell) == 7, written.is_ok());
            (written, seen)
        })
        .assert_exactly([
            (Ok(()), Ok(0)),
            (Ok(()), Ok(7)),
            (Ok(()), Err(Held)),
            (Err(Held), Ok(0)),
        ]);
}

/// Two threads that add one each. Either adds to what the other left, or is refused by it. Failure:
/// an addition lost, both refused, or a race.
#[test]
fn two_writers() {
    Bound::exhaustive(10)
        .outcomes("two writers", || {
            let cell = Arc::new(DataCell::new(0));
            let add = |cell: &DataCell<u32>| cell.try_write(|value| *value += 1).is_ok();
            let other = beside(&cell, add);
            let mine = add(&cell);
            let others = other.join().unwrap();
            assert_eq!(at_the_end(&cell), u32::from(mine) + u32::from(others));
            (mine, others)
        })
        .assert_exactly([(true, true), (true, false), (false, true)]);
}

/// Three threads: two readers, and one writer. A reader is never refused by a reader, whatever the
/// other does meanwhile; the writer comes when both are gone, in either order. Failure: a reader
/// refused though the writer was refused too, or a race of the writer with the first reader.
#[test]
fn readers_share() {
    Bound::exhaustive(35_000)
        .outcomes("two readers, one writer", || {
            let cell = Arc::new(DataCell::new(0));
            let readers = [0; 2].map(|_| beside(&cell, read));
            let written = cell.try_write(|value| *value = 7).is_ok();
            let mut seen = readers.map(|reader| reader.join().unwrap());
            seen.sort_unstable();
            if !written {
                assert_eq!(seen, [Ok(0), Ok(0)], "refused by nobody");
            }
            (written, seen)
        })
        .assert_exactly([
            (false, [Ok(0), Ok(0)]),
            (true, [Ok(0), Ok(0)]),
            (true, [Ok(0), Ok(7)]),
            (true, [Ok(0), Err(Held)]),
            (true, [Ok(7), Ok(7)]),
            (true, [Ok(7), Err(Held)]),
            (true, [Err(Held), Err(Held)]),
        ]);
}
