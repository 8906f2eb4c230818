//! Data without its type.

use filch_data_cell::{Access, DataCell, DataLock, LockError, Lockable};
use filch_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use filch_sync::{Mutex, lock};

/// Data that several workers may use, behind its lock.
pub(crate) trait SharedCell: Lockable + Send + Sync {
    /// Returns a pointer to the data, for the holder of the lock.
    fn pointer(&self) -> *mut ();

    /// Notes that a worker of that scheduler was refused the lock. Returns whether it still would
    /// be: then the next unlock is told.
    fn wait(&self, scheduler: usize, access: Access) -> bool;

    /// Returns the schedulers that have been noted since the last call, a bit for each.
    fn take_waiting(&self) -> u64;

    /// Announces that the owner will destroy it: its users must end.
    fn announce_end(&self);

    /// Returns whether its owner has destroyed it, or will.
    fn is_ending(&self) -> bool;

    /// Destroys it, or gives it away.
    ///
    /// # Errors
    /// [`LockError::Held`] while somebody uses it.
    fn end(&self) -> Result<(), LockError>;
}

type Then<T> = Box<dyn FnOnce(T) + Send>;

/// Data that a worker owns.
pub(crate) struct OwnedCell<T> {
    cell: DataCell<T>,
    /// Gets the data at its end.
    then: Mutex<Option<Then<T>>>,
    is_ending: AtomicBool,
    /// The schedulers whose workers wait for the lock.
    waiting: AtomicU64,
}

impl<T> OwnedCell<T> {
    pub(crate) fn new(value: T, then: impl FnOnce(T) + Send + 'static) -> Self {
        Self {
            cell: DataCell::new(value),
            then: Mutex::new(Some(Box::new(then))),
            is_ending: AtomicBool::new(false),
            waiting: AtomicU64::new(0),
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

    fn wait(&self, scheduler: usize, access: Access) -> bool {
        // ORDERING: Release, for the Acquire in `take_waiting`: the scheduler's link. Before the
        // waiter's bit: whoever is told by that finds this.
        self.waiting.fetch_or(1 << scheduler, Ordering::Release);
        self.cell.lock().announce_waiter(access)
    }

    fn take_waiting(&self) -> u64 {
        // ORDERING: Acquire, for the Release in `wait`. An RMW: what one takes it must wake, and
        // what comes later stays.
        self.waiting.swap(0, Ordering::Acquire)
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
        let value = self.cell.try_end()?;
        let then = lock(&self.then).take();
        match then {
            Some(then) => then(value),
            None => unreachable!("it ends once"),
        }
        Ok(())
    }
}
