//! A value that comes back with an error.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A value that comes back with an error. The error may be shared by threads, as `Box<dyn Error +
/// Send + Sync>` asks, though the value may not: nobody sees it before it is taken out.
pub struct HandedBack<T>(Mutex<T>);

impl<T> HandedBack<T> {
    /// For errors of one's own.
    pub fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// The value.
    pub fn into_inner(self) -> T {
        // Never locked, and so never poisoned.
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for HandedBack<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandedBack").finish_non_exhaustive()
    }
}
