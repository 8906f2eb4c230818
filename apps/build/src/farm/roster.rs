//! The connected workers.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use filch_build_scheduler::WorkerId;
use filch_sync::lock;

use super::run::Work;
use super::snapshot::{Running, Worker};

#[derive(Debug, Default)]
pub(super) struct Roster {
    workers: Mutex<Workers>,
}

#[derive(Debug, Default)]
struct Workers {
    there: HashMap<WorkerId, Arc<Entry>>,
    count: u64,
}

/// A connected worker.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) address: String,
    pub(super) slots: usize,
    number: u64,
    since: SystemTime,
    state: Mutex<State>,
}

/// The state of a worker: what it runs, and how many blobs it has.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) running: BTreeMap<u64, (Work, SystemTime)>,
    pub(super) held: usize,
    pub(super) leaving: bool,
}

impl Roster {
    pub(super) fn add(
        &self,
        id: WorkerId,
        name: String,
        address: String,
        slots: usize,
    ) -> Arc<Entry> {
        let mut workers = self.lock();
        workers.count += 1;
        let entry = Arc::new(Entry {
            name,
            address,
            slots,
            number: workers.count,
            since: SystemTime::now(),
            state: Mutex::default(),
        });
        workers.there.insert(id, Arc::clone(&entry));
        entry
    }

    pub(super) fn remove(&self, id: WorkerId) {
        self.lock().there.remove(&id);
    }

    /// Returns the address where that worker serves its blobs, if it does.
    pub(super) fn address(&self, id: WorkerId) -> Option<String> {
        let workers = self.lock();
        let address = &workers.there.get(&id)?.address;
        (!address.is_empty()).then(|| address.clone())
    }

    pub(super) fn len(&self) -> usize {
        self.lock().there.len()
    }

    pub(super) fn views(&self) -> Vec<Worker> {
        let mut entries: Vec<_> = self.lock().there.values().cloned().collect();
        entries.sort_unstable_by(|one, other| {
            (&one.name, one.number).cmp(&(&other.name, other.number))
        });
        entries.iter().map(|entry| entry.view()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Workers> {
        lock(&self.workers)
    }
}

impl Entry {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn view(&self) -> Worker {
        let state = self.state();
        let running = state.running.values().map(|(work, since)| Running {
            action: work.run.action,
            command: work.prepared.title.clone(),
            since: *since,
        });
        Worker {
            name: self.name.clone(),
            address: self.address.clone(),
            since: self.since,
            slots: self.slots,
            running: running.collect(),
            blobs: state.held,
            leaving: state.leaving,
        }
    }
}
