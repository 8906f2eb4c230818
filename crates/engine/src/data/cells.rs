//! Data without its type.

use filch_data_cell::{DataCell, DataLock, LockError, Lockable};
use filch_sync::atomic::{AtomicBool, Ordering};

/// Data that several workers may use, behind its lock.
pub(crate) trait SharedCell: Lockable + Send + Sync {
    /// Returns a pointer to the data, for the holder of the lock.
    fn pointer(&self) -> *mut ();

    /// Announces that the owner will destroy it: its users must end.
    fn announce_end(&self);

    /// Returns whether its owner has destroyed it, or will.
    fn is_ending(&self) -> bool;

    /// Destroys it.
    ///
    /// # Errors
    /// [`LockError::Held`] while somebody uses it.
    fn end(&self) -> Result<(), LockError>;
}

/// Data that a worker owns.
pub(crate) struct OwnedCell<T> {
    cell: DataCell<T>,
    is_ending: AtomicBool,
}

impl<T> OwnedCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            cell: DataCell::new(value),
            is_ending: AtomicBool::new(false),
        }
    }
}

// SAFETY: the cell's own lock, which moves with this only.
unsafe impl<T> Lockable for OwnedCell<T> {
    fn lock(&self) -> &DataLock {
        self.cell.lock()
    }
}

impl<T: Send + Sync + 'static> SharedCell for OwnedCell<T> {
    fn pointer(&self) -> *mut () {
        self.cell.as_ptr().cast()
    }

    fn announce_end(&self) {
        // ORDERING: Relaxed: released by `Owners::has_ended`.
        self.is_ending.store(true, Ordering::Relaxed);
    }

    fn is_ending(&self) -> bool {
        // ORDERING: Relaxed: by the Acquire in `Owners::ended`.
        self.is_ending.load(Ordering::Relaxed)
    }

    fn end(&self) -> Result<(), LockError> {
        self.cell.try_end().map(drop)
    }
}
