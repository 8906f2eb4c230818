//! A search begins to watch a victim instead of taking its only task.

use crate::queues::local::Local;
use crate::queues::shared::Shared;

impl<T: Send + 'static> Local<T> {
    /// Watches a victim that was spared, if it has come for its tasks quickly since. Whether it
    /// does.
    #[cold]
    pub(crate) fn starts_to_watch(&self, shared: &Shared<T>, victim: usize) -> bool {
        let run = &shared.queues.processors[victim].counters.run;
        let coordinator = &shared.coordinator;
        !shared.watch_interval.is_zero()
            && self.policy.watch_if_quick(victim, run, || {
                coordinator.try_watch(victim, coordinator.attached(self.own))
            })
    }
}
