//! Models of the data cell and of sets of cells: who is let in, what it sees, and who is told of
//! those that wait. loom reports data that two threads touch at once as a race. No thread here
//! waits: each model says who gets in, and who would sleep.

mod ends;
mod poison;
mod sets;
mod sharing;
mod waiting;

use filch_data_cell::{DataCell, LockError};

fn read(cell: &DataCell<u32>) -> Result<u32, LockError> {
    cell.try_read(|value| *value)
}
