//! The data of a function, found in a worker's table, with the locks to take.

use std::sync::Arc;

use filch_data_cell::{LockError, LockSet, Lockable, Locked, Mask, Refused};

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
            unreachable!("eight parameters at most, and conflicts are refused before");
        };
        Ok(Self {
            requests: requests.into(),
            pointers: pointers.into(),
            locks,
            locked_for: locked_for.into(),
        })
    }

    /// Locks all data that it takes, or none, except what `outer` functions of the same worker have
    /// locked. Does not wait.
    ///
    /// # Errors
    /// The data that it cannot get.
    pub(crate) fn lock(&self, outer: &[&Self]) -> Result<Held<'_>, Denied> {
        let skip = match outer {
            [] => Mask::NONE,
            outer => self.skip_beside(outer)?,
        };
        match self.locks.try_lock(skip) {
            Ok(locked) => Ok(Held {
                locked,
                pointers: &self.pointers,
            }),
            Err(refused) => Err(self.denied(refused)),
        }
    }

    /// Returns the locks that `outer` functions have already.
    ///
    /// # Errors
    /// The data that excludes theirs.
    #[cold]
    fn skip_beside(&self, outer: &[&Self]) -> Result<Mask, Denied> {
        if let Some(request) = self.conflict(outer) {
            return Err(Denied::Nested(request));
        }
        let mut skip = Mask::NONE;
        for outer in outer {
            for (position, request) in self.listed() {
                if outer.listed().any(|(_, theirs)| theirs.id == request.id) {
                    let lock = self.locked_for.iter().position(|&own| own == position);
                    skip = lock.map_or(skip, |lock| skip.with(lock));
                }
            }
        }
        Ok(skip)
    }

    /// Returns the data that excludes data of `outer` functions of the same worker.
    pub(crate) fn conflict(&self, outer: &[&Self]) -> Option<Request> {
        let mut theirs = outer.iter().flat_map(|outer| outer.listed());
        theirs.find_map(|(_, theirs)| {
            let mut own = self.listed();
            let (_, own) = own.find(|(_, own)| own.excludes(theirs))?;
            Some(*own)
        })
    }

    /// The parameters that are data.
    fn listed(&self) -> impl Iterator<Item = (usize, &Request)> {
        let requests = self.requests.iter().enumerate();
        requests.filter_map(|(position, request)| Some((position, request.as_ref()?)))
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
