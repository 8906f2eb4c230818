//! The order in which a processor looks for work: its own deque, the global queue, the tasks that
//! have given way, the other processors' deques, the source, and last a task of idle priority.

use filch_deque::Steal;
use filch_sync::{hint, thread};

use crate::queues::fairness::oldest;
use crate::queues::source::Found;
use crate::queues::steal_policy::StealMode;
use crate::queues::task_queues::{Local, Processor, Shared};

/// Rounds through all victims in which some race was lost, before the thread yields between rounds.
const RACES: u32 = 4;

impl<T: Send + 'static> Local<T> {
    /// The next task that needs no search: the newest of its own, else the oldest of the global
    /// queue, else the oldest of those that have given way. At times it is another one's turn, or
    /// the source's, if it may have one: `fairness.rs`. The calling thread has its permit in hand.
    pub(crate) fn next(&self, shared: &Shared<T>, may_take_piece: bool) -> Option<Found<T>> {
        let first = match self.fair.clock.tick() {
            true => self.check_fairness(shared, may_take_piece),
            false => None,
        };
        first.or_else(|| self.unsearched(shared).map(Found::Task))
    }

    /// A task for which something long has made way, on this processor, or something queued, if
    /// enough threads came back from calls meanwhile: it comes before threads that wait.
    #[cold]
    pub(crate) fn take_before_waiters(&self, shared: &Shared<T>) -> Option<Found<T>> {
        let queues = &shared.queues;
        let Some(until) = self.fair.turn_of_tasks.get() else {
            // What lies in the source is queued, too.
            let piece = || queues.source.take().map(Found::Piece);
            return self.next(shared, true).or_else(piece);
        };
        // A piece of the source might take long as well. A thread that does not count as searching
        // moves no task from deque to deque.
        let oldest = || queues.in_reach().iter().find_map(oldest).map(Found::Task);
        let task = match (shared.clock)() < until {
            true => self.next(shared, false).or_else(oldest),
            false => None,
        };
        if task.is_none() {
            self.fair.turn_of_tasks.set(None);
        }
        task
    }

    /// One round of a search: own deque, global queues, then victims, and the source; last, one
    /// idle-priority task. The calling thread has its permit in hand.
    pub(crate) fn search(&self, shared: &Shared<T>, mode: StealMode) -> Option<Found<T>> {
        self.unsearched(shared)
            .or_else(|| self.steal(shared, mode))
            .map(Found::Task)
            .or_else(|| shared.queues.source.take().map(Found::Piece))
            .or_else(|| self.take_idle_priority(shared, mode).map(Found::Task))
    }

    /// Takes a piece without a search, as a task of the global queue is taken; none while another
    /// processor has tasks, which come first. If each piece took a search, two processors with
    /// short pieces would wake each other for each: the one that is woken counts as searching, the
    /// other one may not search then, and it would sleep beside the rest.
    pub(crate) fn take_piece(&self, shared: &Shared<T>) -> Option<Found<T>> {
        let queues = &shared.queues;
        let has_task = |other: &Processor<T>| !other.stealer.is_empty();
        if !queues.source.is_attached() || queues.in_reach().iter().any(has_task) {
            return None;
        }
        queues.source.take().map(Found::Piece)
    }

    #[inline(always)]
    pub(crate) fn unsearched(&self, shared: &Shared<T>) -> Option<T> {
        self.deque.pop().or_else(|| self.take_shared(shared))
    }

    /// The oldest task of the global queue, where more come along if tasks are short, else of those
    /// that have given way.
    #[inline(never)]
    fn take_shared(&self, shared: &Shared<T>) -> Option<T> {
        self.take_global(shared, self.fair.clock.batch())
            .or_else(|| self.take_yielded(shared))
    }

    /// The oldest task of the global queue, and up to `more` of the next ones into the own deque.
    pub(crate) fn take_global(&self, shared: &Shared<T>, more: usize) -> Option<T> {
        let mut moved = 0;
        // Before anything is taken: a deque that cannot grow gets none.
        let more = self.deque.try_reserve(more).map_or(0, |()| more);
        let keep = |task| {
            if let Some(prefetch) = shared.prefetch {
                prefetch(&task);
            }
            self.deque.push(task);
            moved += 1;
        };
        let task = shared.queues.global.pop_batch(&self.lanes, more, keep)?;
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

    /// The oldest task of those that have given way: one at a time, so that none overtakes another.
    pub(crate) fn take_yielded(&self, shared: &Shared<T>) -> Option<T> {
        let task = shared.queues.yielded.pop()?;
        let counters = &shared.queues.processors[self.own].counters;
        counters.from_yielded.add(1);
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
                let is_left = |sole| match mode {
                    StealMode::Take => {
                        shared.coordinator.is_watched(victim)
                            || !shared.watch_interval.is_zero() && self.policy.is_quick(victim, run)
                    }
                    _ => self.policy.spares(mode, victim, sole, run),
                };
                if stealer.sole().is_some_and(is_left) {
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
