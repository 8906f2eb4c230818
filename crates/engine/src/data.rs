//! The data of workers: its place, its lock, and the requests for it.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use filch_data_cell::{Access, DataCell, DataLock, LockError, Lockable};
use filch_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use filch_sync::{Mutex, lock};

/// The way in which a worker gets data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Created and destroyed here; others may use it.
    Owner,
    /// No other worker uses it.
    Local,
    /// A worker of the same scheduler owns it.
    Group,
    /// Another worker owns it, and this one only reads it.
    Shared,
}

/// Data in a worker's list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
    pub(crate) role: Role,
}

/// The place of the data.
#[derive(Clone)]
pub(crate) enum Place {
    Shared(Arc<dyn SharedCell>),
    /// An `UnsafeCell`, for the worker, which must not use it twice at once.
    Local(Rc<dyn Any>),
}

impl Place {
    pub(crate) fn pointer(&self) -> *mut () {
        match self {
            Self::Shared(cell) => cell.pointer(),
            Self::Local(cell) => Rc::as_ptr(cell).cast_mut().cast(),
        }
    }
}

/// The part of its list that a worker has at present.
#[derive(Default)]
pub(crate) struct Table(Vec<(Listed, Place)>);

impl Table {
    pub(crate) fn insert(&mut self, listed: Listed, place: Place) {
        self.0.push((listed, place));
    }

    pub(crate) fn get(&self, id: TypeId) -> Option<&(Listed, Place)> {
        self.0.iter().find(|(listed, _)| listed.id == id)
    }

    /// Takes out the last data with that role.
    pub(crate) fn take(&mut self, role: Role) -> Option<(Listed, Place)> {
        let last = self.0.iter().rposition(|(listed, _)| listed.role == role)?;
        Some(self.0.remove(last))
    }

    /// Lists the data with a lock, in the order in which it came.
    fn cells(&self) -> impl DoubleEndedIterator<Item = (&Listed, &Arc<dyn SharedCell>)> {
        self.0.iter().filter_map(|(listed, place)| match place {
            Place::Shared(cell) => Some((listed, cell)),
            Place::Local(_) => None,
        })
    }

    /// Lists the data that it owns, in the order in which it came.
    pub(crate) fn owned(&self) -> impl DoubleEndedIterator<Item = (&Listed, &Arc<dyn SharedCell>)> {
        self.cells()
            .filter(|(listed, _)| listed.role == Role::Owner)
    }

    /// Returns the first whose owner has destroyed it, or will. (An owner that asks ends already.)
    pub(crate) fn ending(&self) -> Option<&'static str> {
        let (listed, _) = self.cells().find(|(_, cell)| cell.is_ending())?;
        Some(listed.name)
    }
}

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

/// A piece of data that a function takes a reference to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
    pub(crate) access: Access,
}

impl Request {
    pub(crate) fn of<T: 'static>(access: Access) -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
            access,
        }
    }

    /// Returns whether both cannot be granted at once.
    pub(crate) fn excludes(&self, other: &Self) -> bool {
        self.id == other.id && (self.writes() || other.writes())
    }

    /// Returns whether it is for a change.
    pub(crate) fn writes(&self) -> bool {
        self.access == Access::Write
    }

    /// Returns two of these requests that cannot be granted at once.
    pub(crate) fn conflict(requests: &[Option<Self>]) -> Option<(Self, Self)> {
        let listed: Vec<_> = requests.iter().flatten().copied().collect();
        listed.iter().enumerate().find_map(|(position, first)| {
            let mut behind = listed[position + 1..].iter();
            let second = behind.find(|second| first.excludes(second))?;
            Some((*first, *second))
        })
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.access {
            Access::Read => write!(f, "&{}", self.name),
            Access::Write => write!(f, "&mut {}", self.name),
        }
    }
}
