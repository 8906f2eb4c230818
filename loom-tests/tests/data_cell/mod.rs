//! Models of the data cell and of sets of cells: who is let in, and what it sees. loom reports data
//! that two threads touch at once as a race. No thread here waits: each model says who gets in.

mod ends;
mod poison;
mod sets;
mod sharing;

use filch_data_cell::{DataCell, LockError};

fn read(cell: &DataCell<u32>) -> Result<u32, LockError> {
    cell.try_read(|value| *value)
}
