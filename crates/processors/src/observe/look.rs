//! Observes processors and machines by words that are there anyway, so that nothing is paid between
//! two looks; comparing two looks tells if anything has changed in between.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use filch_sync::lock;

use crate::pool::processors::Processors;
use crate::protocol::state::grant::{Activity, MachineShared};

/// A look at a machine that has a thread.
pub(crate) struct MachineLook {
    pub(crate) machine: usize,
    pub(crate) activity: Activity,
    /// The label that it shows.
    pub(crate) shown: u64,
    /// The processor that it runs on, or waits with.
    pub(crate) processor: Option<usize>,
    /// The time in the same task, call or wait: exact for a call, else a lower bound. `None` at the
    /// first look.
    pub(crate) since: Option<Duration>,
}

/// A look at a guest.
pub(crate) struct GuestLook {
    pub(crate) processor: usize,
    pub(crate) shown: u64,
    pub(crate) since: Option<Duration>,
}

impl<T: Send + 'static> Processors<T> {
    /// Returns what all machines, and guests, are doing.
    pub(crate) fn look_at_all(&self) -> (Vec<MachineLook>, Vec<GuestLook>) {
        let coordinator = &self.shared.coordinator;
        let now = Instant::now();
        // Before the counts are read: a task that is shown is the last one that was counted.
        let machines = coordinator.machines.iter().map_while(OnceLock::get);
        let words: Vec<_> = machines
            .map(|public| (public, public.activity(), public.task.get()))
            .collect();
        let processors = self.in_use();
        let shown: Vec<u64> = processors.iter().map(|there| there.guest.get()).collect();
        let mut progress = lock(&self.progress);
        let since: Vec<Option<Duration>> = (processors.iter().enumerate())
            .map(|(number, processor)| {
                let run = processor.counters.snapshot().run_in_all();
                progress.processors.look(number, run, now)
            })
            .collect();
        let synced = coordinator.synced();
        let is_inactive = |processor: &usize| synced.inactive[*processor].is_some();
        type Words<'a> = (&'a MachineShared, (Activity, u32), u64);
        let look = |(machine, (public, (activity, changes), shown)): (usize, Words<'_>)| {
            let unmoved = progress.machines.look(machine, changes, now);
            let processor = (0..processors.len())
                .filter(|number| !is_inactive(number))
                .find(|&number| coordinator.attached(number) == machine);
            let since = match activity {
                Activity::Gone => return None,
                Activity::Parked => None,
                Activity::Waits => unmoved,
                Activity::Blocks => Some(public.blocks_for(now)),
                Activity::Runs => processor.map_or(unmoved, |number| since[number].min(unmoved)),
            };
            Some(MachineLook {
                machine,
                activity,
                shown,
                processor,
                since,
            })
        };
        let machines = words.into_iter().enumerate().filter_map(look).collect();
        let guests = (shown.into_iter().enumerate())
            .filter(|&(_, shown)| shown != 0)
            .map(|(processor, shown)| GuestLook {
                processor,
                shown,
                since: since[processor],
            });
        (machines, guests.collect())
    }
}
