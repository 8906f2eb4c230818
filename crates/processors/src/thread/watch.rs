//! The duties of a machine towards the processors that it watches. The argument is in
//! [`architecture`](crate::architecture).

use std::time::Instant;

use filch_sync::hint;

use crate::pool::runner::Runner;
use crate::protocol::Grant;
use crate::queues::local::Local;
use crate::queues::shared::Shared;
use crate::queues::steal_policy::{PAUSES_AFTER_SPARING, SparedVictim};
use crate::stats::Counters;
use crate::thread::machine::{Machine, Vacated};

impl<T: Send + 'static, R: Runner<T>> Machine<'_, T, R> {
    /// Watches nothing: the search has found something else after all.
    #[cold]
    pub(crate) fn cancel_watches(&self, local: &Local<T>) {
        let watched = local.policy.take_watched();
        let watched = watched.iter().map(|spared| spared.victim);
        self.shared.coordinator.cancel_watches(watched);
    }

    /// Makes the machine go idle, and watch.
    #[cold]
    pub(crate) fn leave_watching(
        &self,
        local: &Local<T>,
        counters: &Counters,
        processor: usize,
    ) -> Vacated {
        counters.watches.add(1);
        let watched = local.policy.take_watched();
        Vacated { watched, processor }
    }

    /// Looks, once per watch interval, as long as the processors that the machine watches run one
    /// task after the other, and some processor is idle: the machine's own one is, also while a
    /// guest has it. The machine has gone idle or is going to be told something else. Returns what
    /// it is told to do next, if it has been told.
    #[cold]
    pub(crate) fn watch(&self, mut watched: Vec<SparedVictim>, processor: usize) -> Option<Grant> {
        let shared = self.shared;
        let coordinator = &shared.coordinator;
        let grant = loop {
            let deadline = Instant::now() + shared.watch_interval;
            let grant = coordinator.wait_until(self.number, self.parker, deadline);
            if grant.is_some()
                || coordinator.idle.is_empty() && coordinator.attached(processor) != self.number
                || watched
                    .iter_mut()
                    .any(|spared| stands_still(spared, shared))
            {
                break grant;
            }
        };
        let watched = watched.iter().map(|spared| spared.victim);
        coordinator.end_watches(watched, &shared.queues);
        grant
    }
}

/// Returns, after an interval, whether the processor has run nothing since, or has a task and does
/// not come for it.
fn stands_still<T: Send + 'static>(spared: &mut SparedVictim, shared: &Shared<T>) -> bool {
    let victim = &shared.queues.processors[spared.victim];
    let run = victim.counters.run.get();
    if run == std::mem::replace(&mut spared.run, run) {
        return true;
    }
    let sole = victim.stealer.sole();
    sole.is_some() && {
        hint::pause(PAUSES_AFTER_SPARING);
        victim.stealer.sole() == sole
    }
}
