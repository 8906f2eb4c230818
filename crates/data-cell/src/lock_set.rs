//! Several locks that a caller takes together.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use core::ptr::NonNull;

use crate::lock::{Access, DataLock};
use crate::lockable::Lockable;
use crate::locked::{Entry, Locked, Refused};
use crate::mask::Mask;

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

/// The reason why cells make no set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockSetError {
    /// Two positions are the same cell, and at least one of them is to be written.
    Conflict {
        /// The position where the cell comes first.
        first: usize,
        /// The position where it comes again.
        second: usize,
    },
    /// More than [`LockSet::MOST`].
    TooMany,
}

impl fmt::Display for LockSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { first, second } => write!(
                f,
                "the cells at {first} and {second} are one, and one of them is to be written"
            ),
            Self::TooMany => write!(f, "more than {} cells", LockSet::MOST),
        }
    }
}

impl Error for LockSetError {}

impl LockSet {
    /// The most cells in one set.
    pub const MOST: usize = Mask::POSITIONS;

    /// Makes the set of these cells. A cell that is given twice to be read is locked once.
    ///
    /// The positions of cells in [`Mask`], [`Refused`] and [`LockSetError`] are those in `cells`.
    ///
    /// # Errors
    /// See [`LockSetError`].
    pub fn new(
        cells: impl IntoIterator<Item = (Arc<dyn Lockable + Send + Sync>, Access)>,
    ) -> Result<Self, LockSetError> {
        let mut set = Self {
            entries: Vec::new(),
            cells: Vec::new(),
        };
        set.fill(cells)?;
        Ok(set)
    }

    /// Adds the cells, and sorts them.
    fn fill(
        &mut self,
        cells: impl IntoIterator<Item = (Arc<dyn Lockable + Send + Sync>, Access)>,
    ) -> Result<(), LockSetError> {
        for (position, (cell, access)) in cells.into_iter().enumerate() {
            if position == Self::MOST {
                return Err(LockSetError::TooMany);
            }
            self.add(position, cell, access)?;
        }
        // All sets lock in one order. So a set is refused only by one that has got further, and the
        // furthest of all goes on: see ALGORITHM.md.
        self.entries.sort_unstable_by_key(|entry| entry.lock.addr());
        Ok(())
    }

    /// Adds the cell at `position`, or adds the position to the entry of the same cell.
    fn add(
        &mut self,
        position: usize,
        cell: Arc<dyn Lockable + Send + Sync>,
        access: Access,
    ) -> Result<(), LockSetError> {
        let lock = NonNull::from(cell.lock());
        let positions = Mask::NONE.with(position);
        let Some(same) = self.entries.iter_mut().find(|entry| entry.lock == lock) else {
            self.entries.push(Entry {
                lock,
                access,
                positions,
            });
            self.cells.push(cell);
            return Ok(());
        };
        if (same.access, access) != (Access::Read, Access::Read) {
            return Err(LockSetError::Conflict {
                first: same.positions.first(),
                second: position,
            });
        }
        same.positions = same.positions | positions;
        Ok(())
    }

    /// Locks all cells, or none.
    ///
    /// `skip` has the positions of cells to leave alone, since the caller holds them already: a
    /// task that runs inside of another one on the same thread. A cell with several positions is
    /// left alone if one of them is in `skip`.
    ///
    /// Everything that earlier writers of the cells did happens before the return, as in
    /// [`DataLock::try_lock`]. Never waits; lock-free. All sets take their locks in one order, and
    /// give them back if one is refused: of several sets that refuse each other, one gets all.
    ///
    /// # Errors
    /// The first cell that was refused. Nothing is locked.
    #[inline]
    pub fn try_lock(&self, skip: Mask) -> Result<Locked<'_>, Refused> {
        // SAFETY: the locks lie in the cells, where each stays until its cell is dropped or moved
        // (`Lockable`); the set owns the cells, behind `Arc`s, for as long as the guard lives.
        unsafe { Locked::all(&self.entries, skip) }
    }

    /// Returns the access that the set wants to the cell with this lock, if any.
    pub fn access_of(&self, lock: &DataLock) -> Option<Access> {
        let mut entries = self.entries.iter();
        entries
            .find(|entry| entry.lock == NonNull::from(lock))
            .map(|entry| entry.access)
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
        let cells = self
            .entries
            .iter()
            .map(|entry| (entry.positions, entry.access));
        f.debug_map().entries(cells).finish()
    }
}
