//! The trait of members of a set of locks.

use crate::lock::DataLock;

/// A value that has a [`DataLock`], whatever the lock guards.
///
/// # Safety
/// [`lock`](Self::lock) always returns the same lock, which stays in its place until the value is
/// dropped or moved.
pub unsafe trait Lockable {
    /// The lock.
    fn lock(&self) -> &DataLock;
}
