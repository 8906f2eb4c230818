//! A search begins to watch a victim instead of taking its only task.

use crate::queues::local::Local;
use crate::queues::shared::Shared;

impl<T: Send + 'static> Local<T> {
    /// Watches a victim that was spared and is quick, unless another thread does, or none may.
    /// Returns whether it does.
    #[cold]
    pub(crate) fn starts_to_watch(&self, shared: &Shared<T>, victim: usize) -> bool {
        let coordinator = &shared.coordinator;
        let watches = !shared.watch_interval.is_zero()
            && coordinator.try_watch(victim, coordinator.attached(self.own));
        if watches {
            self.policy.mark_watched(victim);
        }
        watches
    }
}
