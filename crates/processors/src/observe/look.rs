//! Looks at the queues' lengths, and at processors and machines by words that are there anyway, so
//! that nothing is paid between two looks; comparing two tells if anything has changed in between.

use std::time::{Duration, Instant};

use filch_sync::lock;

use crate::pool::processors::Processors;
use crate::protocol::state::grant::{Activity, MachineShared};

/// A look at a machine that has a thread, or at a guest.
pub(crate) struct Look {
    /// The number of the machine; of a guest, the one that it stands in for.
    pub(crate) machine: usize,
    pub(crate) is_guest: bool,
    pub(crate) activity: Activity,
    /// The label that it shows.
    pub(crate) shown: u64,
    /// The processor that it runs on, or waits with.
    pub(crate) processor: Option<usize>,
    /// The time in the same task, call or wait: exact for a call, else a lower bound. `None` at the
    /// first look.
    pub(crate) since: Option<Duration>,
}

impl<T: Send + 'static> Processors<T> {
    /// Returns what all machines are doing, and then the guests.
    pub(crate) fn look_at_all(&self) -> Vec<Look> {
        let coordinator = &self.shared.coordinator;
        let now = Instant::now();
        // Before the counts are read: a task that is shown is the last one that was counted.
        let words: Vec<_> = coordinator
            .all_machines()
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
        // The first processor that each machine has: one that came since has none.
        let mut had = vec![None; words.len()];
        let synced = coordinator.synced();
        for number in (0..processors.len()).rev() {
            if synced.inactive[number].is_none()
                && let Some(first) = had.get_mut(coordinator.attached(number))
            {
                *first = Some(number);
            }
        }
        drop(synced);
        type Words<'a> = (&'a MachineShared, (Activity, u32), u64);
        let look = |(machine, (public, (activity, changes), shown)): (usize, Words<'_>)| {
            let unmoved = progress.machines.look(machine, changes, now);
            let processor: Option<usize> = had[machine];
            let since = match activity {
                Activity::Gone => return None,
                Activity::Parked => None,
                Activity::Waits => unmoved,
                Activity::Blocks => Some(public.blocks_for(now)),
                Activity::Runs => processor.map_or(unmoved, |number| since[number].min(unmoved)),
            };
            Some(Look {
                machine,
                is_guest: false,
                activity,
                shown,
                processor,
                since,
            })
        };
        let machines = words.into_iter().enumerate().filter_map(look);
        let guests = (shown.into_iter().enumerate())
            .filter(|&(_, shown)| shown != 0)
            .map(|(processor, shown)| Look {
                machine: coordinator.attached(processor),
                is_guest: true,
                activity: Activity::Runs,
                shown,
                processor: Some(processor),
                since: since[processor],
            });
        machines.chain(guests).collect()
    }
}

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
