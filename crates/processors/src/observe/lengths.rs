//! The lengths of a pool's queues.

use crate::pool::processors::Processors;

/// The number of tasks in each queue, without tasks that are bound to a thread; from
/// [`Processors::queue_lengths`].
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueLengths {
    /// New tasks in the global queue.
    pub new: usize,
    /// Tasks in the global queue that were woken from outside.
    pub woken: usize,
    /// Tasks that have given way to all others.
    pub given_way: usize,
    /// Tasks that wait until there is nothing else to do.
    pub idle_priority: usize,
    /// Tasks in each processor's deque.
    pub local: Vec<usize>,
}

impl QueueLengths {
    /// Counts all of them.
    pub fn total(&self) -> usize {
        let local: usize = self.local.iter().sum();
        self.new + self.woken + self.given_way + self.idle_priority + local
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Returns how many tasks wait in each of the queues just now, one after the other. Wait-free,
    /// except for memory, and disturbs nothing: some loads for each queue.
    pub fn queue_lengths(&self) -> QueueLengths {
        let queues = &self.shared.queues;
        let (new, woken) = queues.global.lengths();
        let local = self.in_use().iter();
        QueueLengths {
            new,
            woken,
            given_way: queues.yielded.len(),
            idle_priority: queues.idle_priority.len(),
            local: local.map(|processor| processor.stealer.len()).collect(),
        }
    }
}
