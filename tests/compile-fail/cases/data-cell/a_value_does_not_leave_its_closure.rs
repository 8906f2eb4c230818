//! The cell is unlocked when the closure is over.

use filch_data_cell::DataCell;

pub fn case(cell: &DataCell<String>) {
    let mut kept = None;
    #[cfg(misuse)]
    let _ = cell.try_read(|value| kept = Some(value)); //~ E0521 borrowed data escapes
    #[cfg(not(misuse))]
    let _ = cell.try_read(|value| kept = Some(value.clone()));
    drop(kept);
}
