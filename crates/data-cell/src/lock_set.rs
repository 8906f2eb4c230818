//! Several locks that a caller takes together.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use core::ptr::NonNull;

use crate::lock::{Access, Lockable};
use crate::locked::{Entry, Locked, Refused};

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
