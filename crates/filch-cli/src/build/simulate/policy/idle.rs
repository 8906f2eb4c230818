//! The workers that have a free slot.

use std::collections::{BTreeMap, VecDeque};

use crate::build::simulate::farm::Worker;

/// Free slots, in the order in which they became free.
#[derive(Debug)]
pub(super) struct Idle {
    since: u64,
    order: BTreeMap<u64, Worker>,
    /// Of each worker, oldest first.
    slots: Vec<VecDeque<u64>>,
}

impl Idle {
    pub(super) fn of(workers: u32) -> Self {
        Self {
            since: 0,
            order: BTreeMap::new(),
            slots: vec![VecDeque::new(); workers as usize],
        }
    }

    pub(super) fn add(&mut self, worker: Worker) {
        self.since += 1;
        self.order.insert(self.since, worker);
        self.slots[worker as usize].push_back(self.since);
    }

    /// Takes the slot that has been free for longest.
    pub(super) fn take(&mut self) -> Option<Worker> {
        let (_, worker) = self.order.pop_first()?;
        self.slots[worker as usize].pop_front();
        Some(worker)
    }

    /// Takes the one that has been free for longest, of these workers.
    pub(super) fn take_of(&mut self, workers: impl Iterator<Item = Worker>) -> Option<Worker> {
        let first = |worker: Worker| self.slots[worker as usize].front();
        let since = workers.filter_map(first).min().copied()?;
        let worker = self.order.remove(&since)?;
        self.slots[worker as usize].pop_front();
        Some(worker)
    }
}

#[cfg(test)]
mod tests {
    use super::Idle;

    #[test]
    fn the_slot_that_has_been_free_for_longest_is_taken_first() {
        let mut idle = Idle::of(4);
        [2, 0, 3, 2, 1]
            .into_iter()
            .for_each(|worker| idle.add(worker));
        assert_eq!(idle.take_of([3, 0, 1].into_iter()), Some(0));
        assert_eq!(idle.take(), Some(2));
        assert_eq!(idle.take_of([0].into_iter()), None);
        assert_eq!(idle.take_of([2, 1].into_iter()), Some(2));
        assert_eq!(
            [idle.take(), idle.take(), idle.take()],
            [Some(3), Some(1), None]
        );
    }
}
