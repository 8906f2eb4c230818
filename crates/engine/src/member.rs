//! A scheduler, as its engine keeps it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::exit::Exit;
use crate::report::WorkerReport;
use crate::scheduler::stats::Stats;
use crate::worker::public::Public;

/// A scheduler, as its engine keeps it.
pub(crate) struct Member {
    pub(crate) name: String,
    /// Set when no worker may be added any more.
    pub(crate) is_terminated: bool,
    /// Set when its loop has ended.
    pub(crate) is_over: bool,
    /// Set if the engine has a thread for it.
    pub(crate) has_thread: bool,
    pub(crate) stats: Arc<Stats>,
    workers: Vec<Arc<Public>>,
    /// Set if its worker must be alone.
    is_exclusive: bool,
    /// The number of functions of its workers for each kind of task.
    listed: HashMap<usize, usize>,
}

impl Member {
    pub(crate) fn new(name: String, stats: &Arc<Stats>) -> Self {
        Self {
            name,
            is_terminated: false,
            is_over: false,
            has_thread: false,
            stats: Arc::clone(stats),
            workers: Vec::new(),
            is_exclusive: false,
            listed: HashMap::new(),
        }
    }

    /// Returns whether one more can be added, which must be alone if it `is_exclusive`.
    pub(crate) fn has_room_for(&self, is_exclusive: bool) -> bool {
        !self.is_exclusive && (!is_exclusive || self.workers.is_empty())
    }

    /// Adds a worker that is in the queue of its scheduler: tasks may follow it there.
    pub(crate) fn enter(&mut self, scheduler: usize, public: Arc<Public>, is_exclusive: bool) {
        for route in &public.lists {
            *self.listed.entry(route.kind.0).or_default() += 1;
            route.list(scheduler);
        }
        self.is_exclusive = is_exclusive;
        self.workers.push(public);
    }

    /// Removes a worker that has ended. No tasks follow it, unless another one lists their type.
    pub(crate) fn leave(&mut self, public: &Arc<Public>) {
        self.workers.retain(|other| !Arc::ptr_eq(other, public));
        self.is_exclusive = false;
        for route in &public.lists {
            let left = self.listed.entry(route.kind.0).or_insert(1);
            *left -= 1;
            if *left == 0 {
                route.unlist(public.scheduler);
            }
        }
    }

    pub(crate) fn tell_all_to_end(&self) {
        for worker in &self.workers {
            worker.tell_to_end(Exit::Terminated);
        }
    }

    pub(crate) fn reports(&self) -> Vec<WorkerReport> {
        let workers = self.workers.iter();
        workers.map(|worker| WorkerReport::of(worker)).collect()
    }
}
