//! Locks that are held together.

use core::error::Error;
use core::fmt;
use core::mem;
use core::ptr::{self, NonNull};

use crate::lock::{Access, DataLock};
use crate::lock_error::LockError;

/// One lock of a set.
pub(crate) struct Entry {
    pub(crate) lock: NonNull<DataLock>,
    pub(crate) access: Access,
    /// The first position at which its cell was given.
    pub(crate) position: usize,
}

/// The cell of a [`LockSet`](crate::LockSet) that was refused, and the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Refused {
    /// The cell's position, the first of them if it has several.
    pub position: usize,
    /// The reason.
    pub why: LockError,
    /// Set if somebody waits for a cell that was locked for a moment, and given back: wake it, as
    /// after [`Locked::unlock`].
    pub is_awaited: bool,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cell {}: {}", self.position, self.why)
    }
}

impl Error for Refused {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.why)
    }
}

/// All cells of a [`LockSet`](crate::LockSet), locked. Dropping it unlocks them, last one first,
/// and tells nobody of those that wait: where some do, call [`unlock`](Self::unlock).
///
/// The drop cannot see a panic: catch panics, and call [`poison`](Self::poison) after one.
#[must_use = "its drop unlocks"]
pub struct Locked<'a> {
    entries: &'a [Entry],
}

// SAFETY: a lock belongs to no thread. The guard does nothing but unlock, which is atomic.
unsafe impl Send for Locked<'_> {}
// SAFETY: as above; a shared guard does nothing at all.
unsafe impl Sync for Locked<'_> {}

impl<'a> Locked<'a> {
    /// Locks all `entries`, or none.
    ///
    /// # Safety
    /// The locks live for `'a`.
    #[inline]
    pub(crate) unsafe fn all(entries: &'a [Entry]) -> Result<Self, Refused> {
        for entry in entries {
            // SAFETY: the lock is there (contract).
            let lock = unsafe { entry.lock.as_ref() };
            if let Err(why) = lock.try_lock(entry.access) {
                return Err(Refused {
                    position: entry.position,
                    why,
                    is_awaited: Self { entries }.unlock_before(entry),
                });
            }
        }
        Ok(Self { entries })
    }

    /// Gives back the locks before one that was refused. Somebody may wait for them since then.
    #[cold]
    #[inline(never)]
    fn unlock_before(mut self, refused: &Entry) -> bool {
        let earlier = self.entries.split(|entry| ptr::eq(entry, refused)).next();
        self.entries = earlier.unwrap_or_default();
        self.unlock()
    }

    /// Unlocks, as the drop does. Returns whether somebody waits for one of the cells: see
    /// [`DataLock::announce_waiter`]. Wait-free.
    #[inline]
    pub fn unlock(self) -> bool {
        self.leave(|lock, access| {
            // SAFETY: `all` has locked it with this access; `leave` leaves each once.
            unsafe { lock.unlock(access) }
        })
    }

    /// Unlocks, and poisons the cells locked to be written: the task that wrote has panicked.
    /// Returns whether somebody waits, as [`unlock`](Self::unlock) does. Wait-free.
    pub fn poison(self) -> bool {
        self.leave(|lock, access| match access {
            // SAFETY: `all` has locked it with this access; `leave` leaves each once.
            Access::Read => unsafe { lock.unlock(Access::Read) },
            // SAFETY: as above.
            Access::Write => unsafe { lock.poison() },
        })
    }

    /// Leaves each lock. Returns whether somebody waits for one of them.
    #[inline]
    fn leave(self, leave: impl Fn(&DataLock, Access) -> bool) -> bool {
        // Not `any`, which ends early.
        let is_awaited = self
            .held()
            .fold(false, |seen, (lock, access)| leave(lock, access) | seen);
        if is_awaited {
            self.held().for_each(|(lock, _)| lock.forget_waiters());
        }
        mem::forget(self);
        is_awaited
    }

    /// The locks that this guard has locked, the last one first.
    #[inline]
    fn held(&self) -> impl Iterator<Item = (&'a DataLock, Access)> {
        self.entries.iter().rev().map(|entry| {
            // SAFETY: the lock is there for `'a` (contract of `all`).
            (unsafe { entry.lock.as_ref() }, entry.access)
        })
    }
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.held().for_each(|(lock, access)| {
            // SAFETY: `all` has locked it with this access, and the guard is dropped once.
            let _ = unsafe { lock.unlock(access) };
        });
    }
}

impl fmt::Debug for Locked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.held().map(|(_, access)| access);
        f.debug_list().entries(held).finish()
    }
}
