//! Every thread can get a reference to any slot.

use std::cell::Cell;

use filch_slab::Slab;

pub fn case() {
    #[cfg(misuse)]
    let slab = Slab::new(Cell::new);
    #[cfg(not(misuse))]
    let slab = Slab::new(|index| index);
    let _ = Cell::new(1);
    std::thread::scope(|scope| {
        scope.spawn(|| slab.allocate()); //~ E0277 `Cell<u32>` cannot be shared between threads
    });
}
