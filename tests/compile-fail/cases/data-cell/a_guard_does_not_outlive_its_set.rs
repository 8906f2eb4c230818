//! The set keeps the cells whose locks the guard unlocks.

use filch_data_cell::LockSet;

pub fn case(set: LockSet) {
    let locked = set.try_lock();
    #[cfg(misuse)]
    drop(set); //~ E0505 cannot move out of `set`
    drop(locked);
    #[cfg(not(misuse))]
    drop(set);
}
