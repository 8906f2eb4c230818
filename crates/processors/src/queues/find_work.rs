//! The order in which a processor looks for work: its own deque, the global queue, the tasks that
//! have given way, the other processors' deques, the source, and last a task of idle priority. And
//! whether a thief takes a victim's only task, or leaves it to the victim for a while, which has
//! its data at hand and is likely to come for it next.

use std::cell::{Cell, RefCell};
use std::mem;

use filch_deque::{Sole, Steal};
use filch_sync::{hint, thread};

use crate::queues::fairness::oldest;
use crate::queues::source::Found;
use crate::queues::task_queues::{Local, Shared};
use crate::stats::Counter;

/// Rounds through all victims in which some race was lost, before the thread yields between rounds.
const RACES: u32 = 4;

impl<T: Send + 'static> Local<T> {
    /// The next task that needs no search: the newest of its own, else the oldest of the global
    /// queue, else the oldest of those that have given way. At times it is another one's turn, or
    /// the source's, if it may have one: `fairness.rs`. The calling thread has its permit in hand.
    pub(crate) fn next(&self, shared: &Shared<T>, may_take_external: bool) -> Option<Found<T>> {
        let first = match self.fair.clock.tick() {
            true => self.check_fairness(shared, may_take_external),
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
            let external = || queues.source.take().map(Found::ExternalTask);
            return self.next(shared, true).or_else(external);
        };
        // An external task of the source might take long as well. A thread that does not count as
        // searching moves no task from deque to deque.
        let oldest = || queues.in_reach().find_map(oldest).map(Found::Task);
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
            .or_else(|| shared.queues.source.take().map(Found::ExternalTask))
            .or_else(|| self.take_idle_priority(shared, mode).map(Found::Task))
    }

    fn unsearched(&self, shared: &Shared<T>) -> Option<T> {
        self.deque.pop().or_else(|| self.take_shared(shared))
    }

    /// The oldest task of the global queue, where more come along if tasks are short, else of those
    /// that have given way.
    pub(crate) fn take_shared(&self, shared: &Shared<T>) -> Option<T> {
        if !Self::HAS_TASKS {
            return None;
        }
        self.take_global(shared, self.fair.clock.batch())
            .or_else(|| self.take_yielded(shared))
    }

    /// The oldest task of the global queue, and up to `more` of the next ones into the own deque.
    pub(crate) fn take_global(&self, shared: &Shared<T>, more: usize) -> Option<T> {
        let mut moved = 0;
        // Before anything is taken: a deque that cannot grow gets none.
        let more = self.deque.try_reserve(more).map_or(0, |()| more);
        let keep = |task| {
            (shared.prefetch)(&task);
            self.deque.push(task);
            moved += 1;
        };
        let task = shared
            .queues
            .global
            .pop_batch(&self.took_woken, more, keep)?;
        self.is_fed.set(moved > 0);
        shared
            .queues
            .counters(self.own)
            .from_injector
            .add(1 + moved);
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
        shared.queues.counters(self.own).from_yielded.add(1);
        Some(task)
    }

    /// Half of what another processor has, beginning with a random one: one task to run, the rest
    /// into the own deque.
    fn steal(&self, shared: &Shared<T>, mode: StealMode) -> Option<T> {
        let counters = shared.queues.counters(self.own);
        let count = shared.queues.count_in_reach();
        let mut races_lost = 0;
        self.policy.begin_round();
        loop {
            let first = self.random.below(count);
            let mut lost_a_race = false;
            for victim in (first..count)
                .chain(0..first)
                .filter(|&victim| victim != self.own)
            {
                let processor = shared.queues.processor(victim);
                let (stealer, run) = (&processor.stealer, &processor.counters.run);
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
        shared.queues.counters(self.own).idle_priority.add(1);
        Some(task)
    }
}

/// Pauses after a round that has spared a task, before each further look, which takes a cache line
/// from the victim.
pub(crate) const PAUSES_AFTER_SPARING: u32 = 64;

/// Tasks that a victim must have run, since a search first spared one, to be trusted to come for
/// the next one as well.
pub(crate) const QUICK: u64 = 4;

/// Searches in vain that may follow the first one before the thief watches whoever made it search.
/// Where tasks take longer than a search, none of these sees that the victim is quick.
pub(crate) const SEARCHES_IN_VAIN: u32 = 4;

/// The treatment of a victim's only task in a round of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StealMode {
    /// Spares it.
    Spare,
    /// Spares it, unless it is the one that was spared before.
    SpareOnce,
    /// Takes it, unless the victim is watched.
    Take,
}

/// A processor whose only task was left to it.
#[derive(Debug)]
struct SparedVictim {
    victim: usize,
    /// The task that was spared last, before the last round.
    sole: Sole,
    /// The tasks that it had run when the first one was spared.
    run: u64,
    /// `true` if the last round spared one: the victim comes for its tasks by itself.
    is_quick: bool,
}

/// A processor that a thief watches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    pub(crate) victim: usize,
    /// The tasks that it had run when its watcher looked last.
    pub(crate) run: u64,
}

/// The victims that one processor's search has spared.
#[derive(Debug, Default)]
pub(crate) struct StealPolicy {
    /// Since the last [`begin_search`](Self::begin_search).
    spared: RefCell<Vec<SparedVictim>>,
    /// `true` if the last round spared any.
    has_spared: Cell<bool>,
    /// Searches in a row that were in vain.
    in_vain: Cell<u32>,
    /// The tasks that each processor had run at the end of the first of them.
    run: RefCell<Vec<u64>>,
}

impl StealPolicy {
    /// Begins a search of some rounds.
    pub(crate) fn begin_search(&self) {
        self.spared.borrow_mut().clear();
    }

    /// Begins a round through all victims.
    pub(crate) fn begin_round(&self) {
        self.has_spared.set(false);
    }

    /// Returns whether the last round spared a task.
    pub(crate) fn has_spared(&self) -> bool {
        self.has_spared.get()
    }

    /// Returns whether the victim's only task, `sole`, is left to it, in a round before the last.
    /// `run` counts the tasks that the victim has run.
    pub(crate) fn spares(&self, mode: StealMode, victim: usize, sole: Sole, run: &Counter) -> bool {
        let mut spared = self.spared.borrow_mut();
        let spares = match spared.iter_mut().find(|known| known.victim == victim) {
            Some(known) => mode == StealMode::Spare || mem::replace(&mut known.sole, sole) != sole,
            None => {
                spared.push(SparedVictim {
                    victim,
                    sole,
                    run: run.get(),
                    is_quick: false,
                });
                true
            }
        };
        if spares {
            self.has_spared.set(true);
        }
        spares
    }

    /// Returns whether the victim's only task is left to it in the last round as well: it has run
    /// so many since the first was spared that its next one can wait for a watch interval.
    pub(crate) fn is_quick(&self, victim: usize, run: &Counter) -> bool {
        let mut spared = self.spared.borrow_mut();
        let known = spared.iter_mut().find(|known| known.victim == victim);
        known.is_some_and(|known| {
            known.is_quick = run.get().wrapping_sub(known.run) >= QUICK;
            known.is_quick
        })
    }

    /// Notes that the search has found something.
    pub(crate) fn has_found(&self) {
        self.in_vain.set(0);
    }

    /// Ends a search in vain; `run` are the tasks that each processor has run. The quick ones are
    /// offered to `watch`, which says whether the thief watches them; and after some such searches
    /// in a row, all that have run their tasks themselves meanwhile.
    pub(crate) fn ends_in_vain(
        &self,
        run: impl Iterator<Item = u64> + Clone,
        mut watch: impl FnMut(usize) -> bool,
    ) -> Vec<Watched> {
        let before = self.in_vain.replace(self.in_vain.get() + 1);
        let mut first = self.run.borrow_mut();
        if before == 0 {
            first.clear();
            first.extend(run.clone());
        }
        let is_patient = before < SEARCHES_IN_VAIN;
        if !is_patient {
            self.in_vain.set(0);
        }
        let spared = self.spared.borrow();
        let watched = run.enumerate().filter(|&(victim, run)| {
            let ran_all = || matches!(first.get(victim), Some(first) if run - first >= QUICK);
            let is_quick = |known: &SparedVictim| known.victim == victim && known.is_quick;
            (spared.iter().any(is_quick) || !is_patient && ran_all()) && watch(victim)
        });
        watched
            .map(|(victim, run)| Watched { victim, run })
            .collect()
    }
}

/// Picks victims: xorshift64*, a few instructions per number (Vigna, "An experimental exploration
/// of Marsaglia's xorshift generators, scrambled", 2016). Thieves need to differ from each other,
/// not to be unpredictable.
#[derive(Debug)]
pub(crate) struct Random(Cell<u64>);

impl Random {
    /// Makes one sequence per seed. Consecutive seeds are spread by an odd constant, and none
    /// becomes zero.
    pub(crate) fn new(seed: usize) -> Self {
        Self(Cell::new(
            (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        ))
    }

    /// Returns a number below `n`, which is not zero.
    pub(crate) fn below(&self, n: usize) -> usize {
        let mut state = self.0.get();
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.0.set(state);
        let high = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        ((high * n as u64) >> 32) as usize
    }
}
