//! The owners of data, by its type: one owner of a type in an engine.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::Arc;

use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Mutex, lock};

use crate::data::SharedCell;

/// The owners of data. Read when workers come and go, never for a task.
#[derive(Default)]
pub(crate) struct Owners {
    by_type: Mutex<HashMap<TypeId, Owner>>,
    /// The number of times that an owner began to destroy data.
    ended: AtomicUsize,
}

struct Owner {
    scheduler: usize,
    /// Set once others may use it.
    cell: Option<Arc<dyn SharedCell>>,
}

impl Owners {
    /// Notes that a worker of that scheduler will own data of these types.
    ///
    /// # Errors
    /// The position of the first type that has an owner already. Then the worker owns none of them.
    pub(crate) fn announce(&self, scheduler: usize, types: &[TypeId]) -> Result<(), usize> {
        let mut by_type = lock(&self.by_type);
        if let Some(taken) = types.iter().position(|id| by_type.contains_key(id)) {
            return Err(taken);
        }
        by_type.extend(types.iter().map(|&id| {
            let cell = None;
            (id, Owner { scheduler, cell })
        }));
        Ok(())
    }

    /// Lets others use the data, which its owner has set up.
    pub(crate) fn publish(&self, id: TypeId, cell: &Arc<dyn SharedCell>) {
        if let Some(owner) = lock(&self.by_type).get_mut(&id) {
            owner.cell = Some(Arc::clone(cell));
        }
    }

    /// Removes the owner: it has destroyed the data, or never made it.
    pub(crate) fn forget(&self, id: TypeId) {
        lock(&self.by_type).remove(&id);
    }

    /// Counts an owner that will destroy data, and has told the cells.
    pub(crate) fn has_ended(&self) {
        // ORDERING: Release, for the Acquire in `ended`: what the cells say.
        self.ended.fetch_add(1, Ordering::Release);
    }

    /// Returns data with the scheduler of its owner, unless it has none yet, is not set up, or will
    /// be destroyed.
    pub(crate) fn find(&self, id: TypeId) -> Option<(usize, Arc<dyn SharedCell>)> {
        let by_type = lock(&self.by_type);
        let owner = by_type.get(&id)?;
        let cell = owner.cell.clone().filter(|cell| !cell.is_ending())?;
        Some((owner.scheduler, cell))
    }

    /// Returns a number that changes when an owner begins to destroy data.
    pub(crate) fn ended(&self) -> usize {
        // ORDERING: Acquire, for the Release in `has_ended`.
        self.ended.load(Ordering::Acquire)
    }
}
