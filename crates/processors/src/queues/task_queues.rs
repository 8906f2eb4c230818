//! All the places where ordinary tasks wait.

use std::time::Instant;

use filch_deque::{Steal, Stealer, Worker};
use filch_injector::Injector;
use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicUsize, Ordering};

use crate::protocol::state::coordinator::Work;
use crate::protocol::state::grant::ShownTask;
use crate::protocol::state::permit::{Locals, Permit};
use crate::queues::fairness::{AgeOrder, Fairness};
use crate::queues::global_queue::GlobalQueue;
use crate::queues::shared::Local;
use crate::queues::source::SourceSlot;
use crate::stats::Counters;

/// The part of a processor that other threads see: where to steal from it, and what it has done.
///
/// Its local part is in [`TaskQueues::locals`].
pub(crate) struct Processor<T> {
    pub(crate) stealer: Stealer<T>,
    pub(crate) counters: CachePadded<Counters>,
    /// The task that a guest runs on it.
    pub(crate) guest: ShownTask,
}

/// All the places where work waits, except for bound tasks that have been found.
pub(crate) struct TaskQueues<T> {
    pub(crate) processors: Box<[Processor<T>]>,
    pub(crate) locals: Locals<Local<T>>,
    /// Tasks that come from outside.
    pub(crate) global: GlobalQueue<T>,
    /// Tasks that have given way to all others.
    pub(crate) yielded: Injector<T>,
    /// Tasks that can wait until no processor has anything else to do.
    pub(crate) idle_priority: Injector<T>,
    /// The slot of the source, whose pieces are no tasks.
    pub(crate) source: SourceSlot,
    /// Processors from here on have never run anything.
    reach: CachePadded<AtomicUsize>,
}

impl<T: Send + 'static> TaskQueues<T> {
    pub(crate) fn new(processors: usize, now: Instant) -> Self {
        let workers: Vec<Worker<T>> = (0..processors).map(|_| Worker::new()).collect();
        let (global, yielded) = (GlobalQueue::new(), Injector::new());
        let local = |(own, worker)| {
            let age_order = AgeOrder::new(&yielded, &global);
            Local::new(own, worker, Fairness::new(age_order, now))
        };
        Self {
            processors: workers
                .iter()
                .map(|worker| Processor {
                    stealer: worker.stealer(),
                    counters: CachePadded::new(Counters::default()),
                    guest: ShownTask::default(),
                })
                .collect(),
            locals: Locals::new(workers.into_iter().enumerate().map(local)),
            global,
            yielded,
            idle_priority: Injector::new(),
            source: SourceSlot::default(),
            reach: CachePadded::new(AtomicUsize::new(0)),
        }
    }

    /// Processors below `count` may run from now on.
    pub(crate) fn reach(&self, count: usize) {
        // ORDERING: Relaxed: such a processor runs only after this, so a thread that synchronises
        // with what it does sees this: a thief that looks into its deque, and the sleeper's second
        // look, by the fences of their handshake.
        self.reach.fetch_max(count, Ordering::Relaxed);
    }

    /// The processors that may have run, and may have something in their deques.
    #[inline]
    pub(crate) fn in_reach(&self) -> &[Processor<T>] {
        // ORDERING: Relaxed: see `reach`.
        &self.processors[..self.reach.load(Ordering::Relaxed)]
    }
}

impl<T: Send + 'static> TaskQueues<T> {
    /// Returns whether any queue of tasks holds one, but for the only one of a `watched` processor.
    fn has_task_beside(&self, watched: impl Fn(usize) -> bool) -> bool {
        // While an owner replaces its ring it has more than one task.
        let counts = |(number, processor): (usize, &Processor<T>)| {
            let stealer = &processor.stealer;
            match watched(number) && stealer.sole().is_some() {
                true => false,
                false => !stealer.is_empty(),
            }
        };
        !self.global.is_empty()
            || self.in_reach().iter().enumerate().any(counts)
            || !self.yielded.is_empty()
            || !self.idle_priority.is_empty()
    }
}

impl<T: Send + 'static> Work for TaskQueues<T> {
    fn exists_beside(&self, watched: impl Fn(usize) -> bool) -> bool {
        self.has_task_beside(watched) || !self.source.is_empty()
    }

    fn may_exist(&self, watched: impl Fn(usize) -> bool) -> bool {
        self.has_task_beside(watched) || self.source.may_have_some()
    }

    fn evacuate(&self, permit: &Permit) -> bool {
        let stealer = &self.processors[permit.processor()].stealer;
        let mut moved = false;
        loop {
            match stealer.steal() {
                Steal::Success(task) => {
                    self.global.push(task);
                    moved = true;
                }
                // Lost to a thief, which has it.
                Steal::Retry => {}
                // Only the thread with the permit could add to it.
                Steal::Empty => return moved,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use super::{GlobalQueue, TaskQueues};
    use crate::protocol::{Coordinator, Work};
    use crate::queues::source::tests::Endless;

    #[test]
    fn only_a_watched_processors_only_task_does_not_count() {
        let queues = TaskQueues::new(2, Instant::now());
        queues.reach(2);
        let coordinator = Coordinator::new(2, 1, 1, 0);
        coordinator.start(1, 1, &queues).unwrap();
        let (permit, _) = coordinator.take_idle().unwrap();
        let local = queues.locals.get(&permit);
        assert!(!queues.exists());
        local.deque.push("one");
        assert!(queues.exists() && queues.exists_beside(|watched| watched == 1));
        assert!(!queues.exists_beside(|watched| watched == 0));
        assert!(local.has_one());
        local.deque.push("two");
        assert!(queues.exists_beside(|_| true) && !local.has_one());
    }

    #[test]
    fn what_is_in_no_deque_always_counts() {
        let queues = TaskQueues::new(1, Instant::now());
        for push in [GlobalQueue::push, GlobalQueue::push_woken] {
            push(&queues.global, ());
            assert!(queues.exists_beside(|_| true));
            queues.global.pop_new_first();
            assert!(!queues.exists_beside(|_| true));
        }
        queues.yielded.push(());
        assert!(queues.exists_beside(|_| true));
        queues.yielded.pop();
        assert!(!queues.exists_beside(|_| true));
        queues.idle_priority.push(());
        assert!(queues.exists_beside(|_| true));
        queues.idle_priority.pop();
        assert!(!queues.exists_beside(|_| true));
        assert!(queues.source.attach(Arc::new(Endless(1))).is_ok());
        assert!(queues.exists_beside(|_| true));
    }
}
