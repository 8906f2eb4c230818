//! The order in which a processor looks for work: its own deque, the global queue, the other
//! processors' deques, and last a task of idle priority.

use filch_deque::Steal;
use filch_sync::{hint, thread};

use crate::queues::local::Local;
use crate::queues::shared::Shared;
use crate::queues::steal_policy::StealMode;

/// How many tasks come along with one that is taken from the global queue.
const BATCH: usize = 16;

/// In one of this many turns the global queue, or by turns the oldest of its own tasks, comes
/// first: however busily tasks on top of the deque wake each other, those below and those outside
/// get their turn.
const FAIRNESS: u32 = 61;

/// Rounds through all victims in which some race was lost, before the thread yields between rounds.
const RACES: u32 = 4;

impl<T: Send + 'static> Local<T> {
    /// The next task that needs no search: the newest of its own, else the oldest of the global
    /// queue and up to [`BATCH`] more.
    #[inline]
    pub(crate) fn next(&self, shared: &Shared<T>) -> Option<T> {
        let tick = self.tick.get().checked_sub(1);
        let tick = tick.unwrap_or(2 * FAIRNESS - 1);
        self.tick.set(tick);
        if matches!(tick, 0 | FAIRNESS)
            && let Some(task) = self.take_old(shared, tick)
        {
            return Some(task);
        }
        self.deque.pop().or_else(|| self.take_global(shared, BATCH))
    }

    /// One round of a search: own deque, global queue, then victims; last, one idle-priority task.
    pub(crate) fn search(&self, shared: &Shared<T>, mode: StealMode) -> Option<T> {
        self.next(shared)
            .or_else(|| self.steal(shared, mode))
            .or_else(|| self.take_idle_priority(shared, mode))
    }

    /// What comes first in one of many turns.
    #[cold]
    fn take_old(&self, shared: &Shared<T>, tick: u32) -> Option<T> {
        if tick == 0 {
            return self.take_global(shared, 0);
        }
        match shared.queues.processors[self.own].stealer.steal() {
            Steal::Success(task) => Some(task),
            // Lost to a thief, which runs it: fair enough.
            Steal::Retry | Steal::Empty => None,
        }
    }

    /// The oldest task of the global queue, and up to `more` of the next ones into the own deque.
    #[inline(never)]
    fn take_global(&self, shared: &Shared<T>, more: usize) -> Option<T> {
        let mut moved = 0;
        let task = shared.queues.injector.pop_batch(more, |task| {
            self.deque.push(task);
            moved += 1;
        })?;
        let counters = &shared.queues.processors[self.own].counters;
        self.is_fed.set(moved > 0);
        counters.from_injector.add(1 + moved);
        if moved > 0 {
            // Between the claim and the last push these tasks were in no queue, and a processor
            // that looked for the last time before it slept may have missed them.
            shared.coordinator.wake_one();
        }
        Some(task)
    }

    /// Half of what another processor has, beginning with a random one: one task to run, the rest
    /// into the own deque.
    fn steal(&self, shared: &Shared<T>, mode: StealMode) -> Option<T> {
        let processors = shared.queues.in_reach();
        let counters = &shared.queues.processors[self.own].counters;
        let count = processors.len();
        let mut races_lost = 0;
        self.policy.begin_round();
        loop {
            let first = self.random.below(count);
            let mut lost_a_race = false;
            for victim in (first..count)
                .chain(0..first)
                .filter(|&victim| victim != self.own)
            {
                let stealer = &processors[victim].stealer;
                let run = &processors[victim].counters.run;
                let is_watched = || {
                    shared.coordinator.is_watched(victim)
                        || self.policy.is_quick(victim, run) && self.starts_to_watch(shared, victim)
                };
                if let Some(sole) = stealer.sole()
                    && self.policy.spares(mode, victim, sole, run, is_watched)
                {
                    continue;
                }
                match stealer.steal_half_into(&self.deque, usize::MAX) {
                    Steal::Success(task) => {
                        self.is_fed.set(false);
                        counters.steals.add(1);
                        counters.stolen.add(1 + self.deque.len() as u64);
                        return Some(task);
                    }
                    Steal::Retry => lost_a_race = true,
                    Steal::Empty => {}
                }
            }
            if !lost_a_race {
                counters.failed_steals.add(1);
                return None;
            }
            // Another thief got what was there: there may be more, and only "empty" may send a
            // processor to sleep. Or an owner was preempted while it replaced its ring: then it
            // needs this core, perhaps.
            races_lost += 1;
            if races_lost < RACES {
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }

    /// The oldest task of those that can wait until no processor has anything else to do, unless
    /// this round spared a victim's only task.
    fn take_idle_priority(&self, shared: &Shared<T>, mode: StealMode) -> Option<T> {
        if self.policy.has_spared() && mode != StealMode::Take {
            return None;
        }
        let task = shared.queues.idle_priority.pop()?;
        let counters = &shared.queues.processors[self.own].counters;
        counters.idle_priority.add(1);
        Some(task)
    }
}
