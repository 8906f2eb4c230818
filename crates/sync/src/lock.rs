//! Locks a mutex even if it is poisoned.

use std::sync::PoisonError;

use crate::{Mutex, MutexGuard};

/// Locks, ignoring poison: for a mutex whose critical sections change nothing before they could
/// panic. Blocks while another thread has the lock; what that thread did happens before.
#[cfg_attr(loom, track_caller)]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
