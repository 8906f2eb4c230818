//! Data with its lock.

use core::fmt;
use core::mem::{self, ManuallyDrop};

use filch_sync::cell::UnsafeCell;

use crate::lock::{Access, DataLock, Lockable};
use crate::word::LockError;

/// Data that threads share: many readers or one writer, until the owner takes the data away. No
/// method waits.
///
/// | field | who touches it |
/// |---|---|
/// | `lock` | everybody: it decides who may touch the value |
/// | `value` | readers and writers by the lock; the owner that takes it; the drop, if nobody has |
///
/// ```
/// use filch_data_cell::{DataCell, LockError};
///
/// let scores = DataCell::new(vec![3, 5]);
/// scores.try_write(|scores| scores.push(8))?;
/// assert_eq!(scores.try_read(|scores| scores.len())?, 3);
///
/// // The owner takes the data. Everybody else is told.
/// assert_eq!(scores.try_end()?, [3, 5, 8]);
/// assert_eq!(scores.try_read(|scores| scores.len()), Err(LockError::Ended));
/// # Ok::<(), LockError>(())
/// ```
pub struct DataCell<T> {
    lock: DataLock,
    value: UnsafeCell<ManuallyDrop<T>>,
}

// SAFETY: readers on several threads have `&T` at a time, hence `T: Sync`. A writer has `&mut T`,
// and an owner takes the value, through a shared cell: hence `T: Send`. The lock orders all of
// them.
unsafe impl<T: Send + Sync> Sync for DataCell<T> {}

// SAFETY: the lock is a field, so it is always the same, and moves with the cell only.
unsafe impl<T> Lockable for DataCell<T> {
    fn lock(&self) -> &DataLock {
        &self.lock
    }
}

impl<T> DataCell<T> {
    /// Makes a cell that nobody holds.
    pub fn new(value: T) -> Self {
        Self {
            lock: DataLock::new(),
            value: UnsafeCell::new(ManuallyDrop::new(value)),
        }
    }

    /// Lends the value to `read`, beside other readers. If `read` panics, the cell is unlocked, and
    /// not poisoned: a reader leaves nothing half changed.
    ///
    /// Everything that earlier writers did happens before `read`. Lock-free, except for `read`.
    ///
    /// # Errors
    /// See [`LockError`]: `read` is not called.
    pub fn try_read<R>(&self, read: impl FnOnce(&T) -> R) -> Result<R, LockError> {
        self.lock.try_lock(Access::Read)?;
        let _unlocks = Reading(&self.lock);
        // SAFETY: locked to read, until this returns or unwinds: the guard unlocks behind it. The
        // lock's Acquire saw the Release of the last writer.
        Ok(unsafe { self.read_ptr(|value| read(&*value)) })
    }

    /// Lends the value to `write`, alone. If `write` panics, the cell is poisoned.
    ///
    /// Everything that earlier readers and writers did happens before `write`. Wait-free, except
    /// for `write` itself.
    ///
    /// # Errors
    /// See [`LockError`]: `write` is not called.
    pub fn try_write<R>(&self, write: impl FnOnce(&mut T) -> R) -> Result<R, LockError> {
        self.lock.try_lock(Access::Write)?;
        let poisons = Writing(&self.lock);
        // SAFETY: locked to write, until this returns or unwinds: what unlocks stands behind it.
        // The lock's Acquire saw the Release of all who were here before.
        let result = unsafe { self.write_ptr(|value| write(&mut *value)) };
        mem::forget(poisons);
        // SAFETY: locked above, and `write` is over.
        unsafe { self.lock.unlock(Access::Write) };
        Ok(result)
    }

    /// Takes the value. From now on, every caller gets [`LockError::Ended`].
    ///
    /// It works on a poisoned cell, too: the value is as the panic left it. Everything that readers
    /// and writers did happens before the return. Lock-free.
    ///
    /// # Errors
    /// [`LockError::Held`], or [`LockError::Ended`] if it has been taken before.
    pub fn try_end(&self) -> Result<T, LockError> {
        self.lock.exclude(true)?;
        // SAFETY: locked to write, so nobody else is here, and nobody has taken the value before:
        // then the lock had been refused. Nobody takes it again, since the lock ends.
        let value = unsafe { self.write_ptr(|value| value.read()) };
        // SAFETY: locked above, and the value is taken.
        unsafe { self.lock.end() };
        Ok(value)
    }

    /// Returns whether the value was taken, which is for ever. It orders nothing. Wait-free.
    pub fn is_ended(&self) -> bool {
        self.lock.is_ended()
    }

    /// Returns whether a writer panicked, and nobody cleared that. It orders nothing. Wait-free.
    pub fn is_poisoned(&self) -> bool {
        self.lock.is_poisoned()
    }

    /// Unlocks a poisoned cell; the value is as the panic left it. Returns whether it was poisoned.
    /// Wait-free.
    pub fn clear_poison(&self) -> bool {
        self.lock.clear_poison()
    }

    /// Calls `read` with a pointer to the value.
    ///
    /// For a caller that has locked the cell by a [`LockSet`](crate::LockSet).
    ///
    /// # Safety
    /// The caller holds the lock to read or to write, until after its last use of the pointer, and
    /// writes nothing through it. With the lock to write, it has no other reference through which
    /// it could write the value.
    #[inline]
    pub unsafe fn read_ptr<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.value.with(|value| read(value.cast()))
    }

    /// Calls `write` with a pointer to the value.
    ///
    /// For a caller that has locked the cell by a [`LockSet`](crate::LockSet).
    ///
    /// # Safety
    /// The caller holds the lock to write, until after its last use of the pointer, and has no
    /// other reference to the value. It leaves a value there.
    #[inline]
    pub unsafe fn write_ptr<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        self.value.with_mut(|value| write(value.cast()))
    }

    /// Returns a pointer to the value, valid as long as the cell. The rules of
    /// [`read_ptr`](Self::read_ptr) and [`write_ptr`](Self::write_ptr) hold for it, under the lock;
    /// a caller that locks the cell often can keep it.
    pub fn as_ptr(&self) -> *mut T {
        self.value.with_mut(<*mut ManuallyDrop<T>>::cast)
    }
}

impl<T> Drop for DataCell<T> {
    /// Drops the value, unless it was taken; a poisoned one, too.
    fn drop(&mut self) {
        if !self.lock.is_ended() {
            self.value.with_mut(|value| {
                // SAFETY: nobody else has the cell, and the value was not taken: then the lock
                // would have ended, by this thread or before the cell came to it.
                unsafe { ManuallyDrop::drop(&mut *value) };
            });
        }
    }
}

impl<T: Default> Default for DataCell<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> fmt::Debug for DataCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataCell")
            .field("lock", &self.lock)
            .finish_non_exhaustive()
    }
}

/// Unlocks for a reader, even for one that panics.
struct Reading<'a>(&'a DataLock);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        // SAFETY: made once the lock was locked to read, and dropped once.
        unsafe { self.0.unlock(Access::Read) };
    }
}

/// Poisons for a writer that panics; forgotten by one that does not.
struct Writing<'a>(&'a DataLock);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        // SAFETY: made once the lock was locked to write, and dropped once, while unwinding.
        unsafe { self.0.poison() };
    }
}
