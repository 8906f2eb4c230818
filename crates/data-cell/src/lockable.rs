//! What a set of locks can be made of.

use crate::lock::DataLock;

/// Something that has a [`DataLock`], whatever it guards.
///
/// # Safety
/// The lock that [`lock`](Self::lock) gives is always the same one. It lies where it is until the
/// value is dropped or moved.
pub unsafe trait Lockable {
    /// The lock.
    fn lock(&self) -> &DataLock;
}
