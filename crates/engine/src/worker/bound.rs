//! The data of a function, found in a worker's table, with the locks to take.

use std::sync::Arc;

use filch_data_cell::{LockError, LockSet, Locked};

use crate::data::{Place, Request, SharedCell, Table};
use crate::worker::home::Home;
use crate::worker::public::Public;

/// The data that a function of a worker takes.
pub(crate) struct Bound {
    requests: Box<[Option<Request>]>,
    /// The bit for all of it: see [`Public::held`].
    pub(crate) bit: u64,
    /// A pointer for each parameter, valid while the data is locked; null, if it is not data.
    pub(crate) pointers: Box<[*mut ()]>,
    locks: LockSet,
    /// The data of each lock.
    locked: Box<[(Request, Arc<dyn SharedCell>)]>,
}

/// The reason why a function cannot run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    /// Somebody else uses this data: try again when the scheduler is woken.
    Held(Request),
    /// The owner has destroyed this data.
    Ended(Request),
    /// A task panicked while it changed this data.
    Poisoned(Request),
    /// An outer task of the same worker uses this data.
    Nested(Request),
}

impl Bound {
    /// # Errors
    /// The data that the worker does not have.
    pub(crate) fn new(
        requests: Vec<Option<Request>>,
        table: &Table,
        public: &Public,
    ) -> Result<Self, Request> {
        let mut pointers = Vec::with_capacity(requests.len());
        let mut locked = Vec::new();
        for request in &requests {
            let Some(request) = request else {
                pointers.push(std::ptr::null_mut());
                continue;
            };
            let Some((_, place)) = table.get(request.id) else {
                return Err(*request);
            };
            pointers.push(place.pointer());
            if let Place::Shared(cell) = place {
                locked.push((*request, Arc::clone(cell)));
            }
        }
        let cells = locked.iter();
        let cells = cells.map(|(request, cell)| (Arc::clone(cell) as _, request.access));
        let Ok(locks) = LockSet::new(cells) else {
            unreachable!("conflicts are refused before");
        };
        Ok(Self {
            bit: public.bit_of(&requests),
            requests: requests.into(),
            pointers: pointers.into(),
            locks,
            locked: locked.into(),
        })
    }

    /// Locks all data that it takes, or none. Both this and `outer` functions of the same worker
    /// may read data. Does not wait: the scheduler is woken when it is time to try again.
    ///
    /// # Errors
    /// The data that it cannot get.
    #[inline]
    pub(crate) fn lock(&self, outer: &[&Self], home: &Home) -> Result<Locked<'_>, Denied> {
        if !outer.is_empty()
            && let Some(request) = self.conflict(outer)
        {
            return Err(Denied::Nested(request));
        }
        let refused = match self.locks.try_lock() {
            Ok(locked) => return Ok(locked),
            Err(refused) => refused,
        };
        self.wake(refused.is_awaited, home);
        let (request, cell) = &self.locked[refused.position];
        Err(match refused.why {
            LockError::Held => {
                if !cell.wait(home.number, request.access) {
                    home.has_progressed();
                }
                Denied::Held(*request)
            }
            LockError::Ended => Denied::Ended(*request),
            LockError::Poisoned => Denied::Poisoned(*request),
        })
    }

    /// Unlocks the data, and wakes those that wait for it. What the function changes is poisoned if
    /// that `has_panicked`, and may have left it half changed.
    pub(crate) fn unlock(&self, locked: Locked<'_>, has_panicked: bool, home: &Home) {
        let is_awaited = match has_panicked {
            false => locked.unlock(),
            true => locked.poison(),
        };
        self.wake(is_awaited, home);
    }

    /// Wakes the schedulers that wait for its data, if it `is_awaited`.
    fn wake(&self, is_awaited: bool, home: &Home) {
        if is_awaited {
            let waiting = self.locked.iter().map(|(_, cell)| cell.take_waiting());
            home.links
                .wake_each(waiting.fold(0, |all, waiting| all | waiting));
        }
    }

    /// Returns the data that excludes data of `outer` functions of the same worker.
    pub(crate) fn conflict(&self, outer: &[&Self]) -> Option<Request> {
        let mut theirs = outer.iter().flat_map(|outer| outer.listed());
        theirs.find_map(|theirs| self.listed().find(|own| own.excludes(theirs)).copied())
    }

    /// The parameters that are data.
    fn listed(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter().flatten()
    }
}
