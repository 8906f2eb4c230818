//! The connected workers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use filch_build_scheduler::WorkerId;
use filch_sync::lock;

use super::snapshot::Worker;

#[derive(Debug, Default)]
pub(super) struct Roster(Mutex<HashMap<WorkerId, Worker>>);

impl Roster {
    pub(super) fn add(&self, id: WorkerId, worker: Worker) {
        self.lock().insert(id, worker);
    }

    pub(super) fn remove(&self, id: WorkerId) {
        self.lock().remove(&id);
    }

    /// Changes what is known of a worker.
    pub(super) fn update(&self, id: WorkerId, change: impl FnOnce(&mut Worker)) {
        self.lock().get_mut(&id).map(change);
    }

    /// Returns the address where that worker serves its blobs, if it does.
    pub(super) fn address(&self, id: WorkerId) -> Option<String> {
        let workers = self.lock();
        let address = &workers.get(&id)?.address;
        (!address.is_empty()).then(|| address.clone())
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns all workers, sorted by name.
    pub(super) fn views(&self) -> Vec<Worker> {
        let mut workers: Vec<_> = self.lock().values().cloned().collect();
        workers.sort_by(|one, other| (&one.name, one.since).cmp(&(&other.name, other.since)));
        workers
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WorkerId, Worker>> {
        lock(&self.0)
    }
}
