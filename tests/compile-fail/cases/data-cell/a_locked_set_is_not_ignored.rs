//! A guard that is not kept unlocks at once.

#![deny(unused_must_use)]

use filch_data_cell::LockSet;

pub fn case(set: &LockSet) {
    if let Ok(locked) = set.try_lock() {
        #[cfg(misuse)]
        std::convert::identity(locked); //~ unused_must_use that must be used
        #[cfg(not(misuse))]
        drop(locked);
    }
}
