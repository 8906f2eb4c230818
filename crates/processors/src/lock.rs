//! Locking a mutex whatever has panicked.

use std::sync::PoisonError;

use filch_sync::{Mutex, MutexGuard};

/// Locks, ignoring poison: no critical section of this crate panics half-way.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
