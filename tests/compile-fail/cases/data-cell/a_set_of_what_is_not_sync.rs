//! Two readers have references to one value at a time.

use std::cell::Cell;
use std::sync::Arc;

use filch_data_cell::{Access, DataCell, LockSet};

pub fn case() {
    #[cfg(misuse)]
    let cell = Arc::new(DataCell::new(Cell::new(1)));
    #[cfg(not(misuse))]
    let cell = Arc::new(DataCell::new(1));
    let _ = Cell::new(1);
    let _ = LockSet::new([(cell as _, Access::Read)]); //~ E0277 `Cell<i32>` cannot be shared
}
