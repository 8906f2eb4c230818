//! What a processor is seen to do, by words that are there anyway: two looks tell whether it has
//! done anything else in between.

use std::sync::OnceLock;

use crate::pool::processors::Processors;
use crate::protocol::state::grant::Activity;

/// What tells the turn of a processor from all others: how much it has run, on which machine, and
/// how often what that does has changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sighting {
    run: u64,
    pub(crate) machine: usize,
    changes: u32,
}

/// A look at a processor.
pub(crate) struct Look {
    pub(crate) sighting: Sighting,
    /// Whether its machine runs, or a guest on it.
    pub(crate) runs: bool,
    pub(crate) is_guest: bool,
    /// The label that is shown, of the guest's task or the machine's.
    pub(crate) shown: u64,
}

impl<T: Send + 'static> Processors<T> {
    /// What that processor is doing, which is [in reach](crate::queues::task_queues); none if it
    /// has no machine.
    pub(crate) fn look_at(&self, number: usize) -> Option<Look> {
        let coordinator = &self.shared.coordinator;
        let processor = &self.shared.queues.processors[number];
        let machine = coordinator.attached(number);
        let public = coordinator.machines.get(machine).and_then(OnceLock::get)?;
        let (activity, changes) = public.activity();
        let (guest, task) = (processor.guest.get(), public.task.get());
        let is_guest = guest != 0;
        // After the label: a task that is shown is the last one that is counted here.
        let run = processor.counters.snapshot().run_in_all();
        Some(Look {
            sighting: Sighting {
                run,
                machine,
                changes,
            },
            runs: is_guest || activity == Activity::Runs,
            is_guest,
            shown: if is_guest { guest } else { task },
        })
    }
}
