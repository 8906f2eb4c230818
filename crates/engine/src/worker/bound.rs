//! The data of a function, found in a worker's table, with the locks to take.

use std::sync::Arc;

use filch_data_cell::{LockError, LockSet, Lockable, Locked, Refused};

use crate::data::table::{Place, Table};
use crate::request::Request;

/// The data that a function of a worker takes.
pub(crate) struct Bound {
    requests: Box<[Option<Request>]>,
    /// A pointer for each parameter; null, if it is not data.
    pointers: Box<[*mut ()]>,
    locks: LockSet,
    /// The parameter of each lock.
    locked_for: Box<[usize]>,
}

/// The reason why a function cannot run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    /// Somebody else uses this data: try later.
    Held(Request),
    /// The owner has destroyed this data.
    Ended(Request),
    /// A task panicked while it changed this data.
    Poisoned(Request),
    /// An outer task of the same worker uses this data.
    Nested(Request),
    /// The worker does not list this data.
    Unlisted(Request),
}

impl Bound {
    /// # Errors
    /// The data that the worker does not have.
    pub(crate) fn new(requests: Vec<Option<Request>>, table: &Table) -> Result<Self, Denied> {
        let mut pointers = Vec::with_capacity(requests.len());
        let mut cells = Vec::new();
        let mut locked_for = Vec::new();
        for (position, request) in requests.iter().enumerate() {
            let Some(request) = request else {
                pointers.push(std::ptr::null_mut());
                continue;
            };
            let Some((_, place)) = table.get(request.id) else {
                return Err(Denied::Unlisted(*request));
            };
            pointers.push(place.pointer());
            if let Place::Shared(cell) = place {
                let cell: Arc<dyn Lockable + Send + Sync> = cell.clone();
                cells.push((cell, request.access));
                locked_for.push(position);
            }
        }
        let Ok(locks) = LockSet::new(cells) else {
            unreachable!("conflicts are refused before");
        };
        Ok(Self {
            requests: requests.into(),
            pointers: pointers.into(),
            locks,
            locked_for: locked_for.into(),
        })
    }

    /// Locks all data that it takes, or none. Both this and `outer` functions of the same worker
    /// may read data. Does not wait.
    ///
    /// # Errors
    /// The data that it cannot get.
    pub(crate) fn lock(&self, outer: &[&Self]) -> Result<Held<'_>, Denied> {
        if !outer.is_empty()
            && let Some(request) = self.conflict(outer)
        {
            return Err(Denied::Nested(request));
        }
        match self.locks.try_lock() {
            Ok(locked) => Ok(Held {
                locked,
                pointers: &self.pointers,
            }),
            Err(refused) => Err(self.denied(refused)),
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

    fn denied(&self, Refused { position, why }: Refused) -> Denied {
        let Some(request) = self.requests[self.locked_for[position]] else {
            unreachable!("what is locked is data");
        };
        match why {
            LockError::Held => Denied::Held(request),
            LockError::Ended => Denied::Ended(request),
            LockError::Poisoned => Denied::Poisoned(request),
        }
    }
}

/// The data of a function, locked.
pub(crate) struct Held<'bound> {
    locked: Locked<'bound>,
    /// The pointers for [`Param::get`](crate::Param), valid while this lives.
    pub(crate) pointers: &'bound [*mut ()],
}

impl Held<'_> {
    /// Poisons the data that the function changes: it panicked, and may have left it half changed.
    pub(crate) fn poison(self) {
        self.locked.poison();
    }
}
