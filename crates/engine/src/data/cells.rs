//! Data without its type.

use std::cell::UnsafeCell;

use filch_data_cell::{DataCell, LockError, Lockable};

/// Data that several workers may use, behind its lock.
pub(crate) trait SharedCell: Lockable + Send + Sync {
    /// Where it lies. Only for one that holds the lock.
    fn pointer(&self) -> *mut ();

    /// Destroys it.
    ///
    /// # Errors
    /// [`LockError::Held`] as long as somebody uses it.
    fn end(&self) -> Result<(), LockError>;

    fn is_ended(&self) -> bool;
}

impl<T: Send + Sync + 'static> SharedCell for DataCell<T> {
    fn pointer(&self) -> *mut () {
        self.as_ptr().cast()
    }

    fn end(&self) -> Result<(), LockError> {
        self.try_end().map(drop)
    }

    fn is_ended(&self) -> bool {
        self.is_ended()
    }
}

/// Data of one worker alone.
pub(crate) trait LocalCell {
    /// Where it lies. Only for the worker, which does not use it twice at once.
    fn pointer(&self) -> *mut ();
}

impl<T: 'static> LocalCell for UnsafeCell<T> {
    fn pointer(&self) -> *mut () {
        self.get().cast()
    }
}
