//! Tasks that have been found for a thread of their own.

use std::collections::{BTreeMap, VecDeque};

use filch_sync::{Mutex, lock};

use crate::protocol::state::synced::BoundId;

/// Tasks that have been found, and wait for their thread, which is busy or about to be woken. One
/// lock for all: there are few.
pub(crate) struct BoundTasks<T>(Mutex<BTreeMap<BoundId, VecDeque<T>>>);

impl<T> BoundTasks<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::default())
    }

    pub(crate) fn open(&self, id: BoundId) {
        lock(&self.0).insert(id, VecDeque::new());
    }

    /// Queues a task behind the others of its thread.
    ///
    /// # Errors
    /// The task, if its thread has been released.
    pub(crate) fn push(&self, id: BoundId, task: T) -> Result<(), T> {
        match lock(&self.0).get_mut(&id) {
            None => Err(task),
            Some(queue) => {
                queue.push_back(task);
                Ok(())
            }
        }
    }

    pub(crate) fn pop(&self, id: BoundId) -> Option<T> {
        lock(&self.0).get_mut(&id)?.pop_front()
    }

    /// Returns how many wait for that thread, and what `name` calls the first ones.
    pub(crate) fn waiting(
        &self,
        id: BoundId,
        max_names: usize,
        name: impl Fn(&T) -> Option<String>,
    ) -> (usize, Vec<String>) {
        let queues = lock(&self.0);
        let queue = queues.get(&id);
        let names = queue.into_iter().flatten().take(max_names);
        (
            queue.map_or(0, VecDeque::len),
            names.filter_map(name).collect(),
        )
    }

    /// Closes the queue of a thread that will run no more; returns the tasks that wait for it.
    pub(crate) fn close(&self, id: BoundId) -> Option<VecDeque<T>> {
        lock(&self.0).remove(&id)
    }

    /// Returns whether none waits for that thread; then, with `close`, none ever will.
    pub(crate) fn is_done(&self, id: BoundId, close: bool) -> bool {
        let mut queues = lock(&self.0);
        let done = queues.get(&id).is_none_or(VecDeque::is_empty);
        if done && close {
            queues.remove(&id);
        }
        done
    }
}
