//! Several locks that a caller takes together, and holds together.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::error::Error;
use core::ptr::{self, NonNull};
use core::{fmt, mem};

use crate::lock::{Access, DataLock, Lockable};
use crate::word::LockError;

/// The cells that a task needs, each to read or to write. It locks all or none, and never waits.
///
/// Make it once and lock it often. It keeps its cells alive.
pub struct LockSet {
    /// Sorted by the addresses of the locks.
    entries: Vec<Entry>,
    /// Keeps the locks in their places.
    cells: Vec<Arc<dyn Lockable + Send + Sync>>,
}

// SAFETY: the entries point to locks in the cells, which the set owns. Both are `Send + Sync`.
unsafe impl Send for LockSet {}
// SAFETY: as above; a shared set only locks and unlocks them.
unsafe impl Sync for LockSet {}

/// The reason why cells make no set: two positions are the same cell, and at least one of them is
/// to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conflict {
    /// The position where the cell comes first.
    pub first: usize,
    /// The position where it comes again.
    pub second: usize,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second } = self;
        write!(
            f,
            "the cells at {first} and {second} are one, and one of them is to be written"
        )
    }
}

impl Error for Conflict {}

impl LockSet {
    /// Makes the set of these cells. A cell that is given twice to be read is locked once.
    ///
    /// The positions of cells in [`Refused`] and [`Conflict`] are those in `cells`.
    ///
    /// # Errors
    /// See [`Conflict`].
    pub fn new(
        cells: impl IntoIterator<Item = (Arc<dyn Lockable + Send + Sync>, Access)>,
    ) -> Result<Self, Conflict> {
        let mut set = Self {
            entries: Vec::new(),
            cells: Vec::new(),
        };
        for (position, (cell, access)) in cells.into_iter().enumerate() {
            set.add(position, cell, access)?;
        }
        // All sets lock in one order. So a set is refused only by one that has got further, and the
        // furthest of all goes on: see ALGORITHM.md.
        set.entries.sort_unstable_by_key(|entry| entry.lock.addr());
        Ok(set)
    }

    /// Adds the cell at `position`, unless it is there already to be read, as this one is.
    fn add(
        &mut self,
        position: usize,
        cell: Arc<dyn Lockable + Send + Sync>,
        access: Access,
    ) -> Result<(), Conflict> {
        let lock = NonNull::from(cell.lock());
        match self.entries.iter().find(|entry| entry.lock == lock) {
            None => {
                self.entries.push(Entry {
                    lock,
                    access,
                    position,
                });
                self.cells.push(cell);
                Ok(())
            }
            Some(same) if (same.access, access) == (Access::Read, Access::Read) => Ok(()),
            Some(same) => Err(Conflict {
                first: same.position,
                second: position,
            }),
        }
    }

    /// Locks all cells, or none.
    ///
    /// Everything that earlier writers of the cells did happens before the return, as in
    /// [`DataLock::try_lock`](crate::DataLock::try_lock). Never waits; lock-free. All sets take
    /// their locks in one order, and give them back if one is refused: of several sets that refuse
    /// each other, one gets all.
    ///
    /// # Errors
    /// The first cell that was refused. Nothing is locked.
    #[inline]
    pub fn try_lock(&self) -> Result<Locked<'_>, Refused> {
        // SAFETY: the locks lie in the cells, where each stays until its cell is dropped or moved
        // (`Lockable`); the set owns the cells, behind `Arc`s, for as long as the guard lives.
        unsafe { Locked::all(&self.entries) }
    }

    /// Returns the number of locks.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns whether it has no cells. [`try_lock`](Self::try_lock) of such a set always succeeds.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

impl fmt::Debug for LockSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells = self.entries.iter();
        let cells = cells.map(|entry| (entry.position, entry.access));
        f.debug_map().entries(cells).finish()
    }
}

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
