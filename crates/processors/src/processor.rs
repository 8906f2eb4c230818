use std::fmt;

use filch_deque::{Steal, Stealer, Worker};
use filch_injector::Injector;
use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicUsize, Ordering};

use crate::crew::Work;
use crate::find_work::Owner;
use crate::hold::{Hold, Owners};
use crate::stats::Counters;

/// What the others see of a processor: where to steal from it, and what it has done.
///
/// Its owner's part is in [`Queues::owners`], for its holder alone.
pub(crate) struct Processor<T> {
    pub(crate) stealer: Stealer<T>,
    pub(crate) counters: CachePadded<Counters>,
}

/// All the places where tasks wait.
pub(crate) struct Queues<T> {
    pub(crate) processors: Box<[Processor<T>]>,
    pub(crate) owners: Owners<Owner<T>>,
    pub(crate) injector: Injector<T>,
    /// For tasks that can wait until nobody has anything else to do.
    pub(crate) idle_priority: Injector<T>,
    /// Processors from here on have never run anything.
    reach: CachePadded<AtomicUsize>,
}

impl<T: Send + 'static> Queues<T> {
    pub(crate) fn new(processors: usize) -> Self {
        let workers: Vec<Worker<T>> = (0..processors).map(|_| Worker::new()).collect();
        Self {
            processors: workers
                .iter()
                .map(|worker| Processor {
                    stealer: worker.stealer(),
                    counters: CachePadded::new(Counters::default()),
                })
                .collect(),
            owners: Owners::new(
                workers
                    .into_iter()
                    .enumerate()
                    .map(|(own, worker)| Owner::new(own, worker)),
            ),
            injector: Injector::new(),
            idle_priority: Injector::new(),
            reach: CachePadded::new(AtomicUsize::new(0)),
        }
    }

    /// Processors below `count` may run from now on.
    pub(crate) fn reach(&self, count: usize) {
        // ORDERING: Relaxed: such a processor runs only after this, so whoever synchronises with
        // what it does, sees this: a thief that looks into its deque, and the sleeper's second
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

impl<T: Send + 'static> Work for Queues<T> {
    fn exists_beside(&self, watched: impl Fn(usize) -> bool) -> bool {
        // While an owner replaces its ring it has something, and more than one.
        let counts = |(number, processor): (usize, &Processor<T>)| {
            let stealer = &processor.stealer;
            match watched(number) && stealer.sole().is_some() {
                true => false,
                false => !stealer.is_empty(),
            }
        };
        !self.injector.is_empty()
            || self.in_reach().iter().enumerate().any(counts)
            || !self.idle_priority.is_empty()
    }

    fn evacuate(&self, hold: &Hold) -> bool {
        let stealer = &self.processors[hold.processor()].stealer;
        let mut moved = false;
        loop {
            match stealer.steal() {
                Steal::Success(task) => {
                    self.injector.push(task);
                    moved = true;
                }
                // Lost to a thief, who has it.
                Steal::Retry => {}
                // Nobody but the holder could add to it.
                Steal::Empty => return moved,
            }
        }
    }
}

impl<T> fmt::Debug for Processor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Processor")
            .field("counters", &self.counters)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Queues;
    use crate::crew::{Crew, Turn, Work};

    #[test]
    fn only_a_watched_processors_only_task_does_not_count() {
        let queues = Queues::new(2);
        queues.reach(2);
        let crew = Crew::new(2, 1, 1, 0);
        assert!(crew.grow(0, |_| true));
        let Some(Turn::Run(hold)) = crew.turn(0) else {
            panic!("a processor for the first machine");
        };
        let owner = queues.owners.get(&hold);
        assert!(!queues.exists());
        owner.push("one");
        assert!(queues.exists() && queues.exists_beside(|watched| watched == 1));
        assert!(!queues.exists_beside(|watched| watched == 0));
        assert!(owner.has_one());
        owner.push("two");
        assert!(queues.exists_beside(|_| true) && !owner.has_one());
    }

    #[test]
    fn what_is_in_no_deque_always_counts() {
        let queues = Queues::new(1);
        queues.injector.push(());
        assert!(queues.exists_beside(|_| true));
        queues.injector.pop();
        assert!(!queues.exists_beside(|_| true));
        queues.idle_priority.push(());
        assert!(queues.exists_beside(|_| true));
    }
}
