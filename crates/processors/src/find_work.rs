//! The order in which a processor looks for work. One page, on purpose: this is what a scheduler
//! is.

use std::cell::{Cell, RefCell};

use filch_deque::{Sole, Steal, Worker};
use filch_sync::{hint, thread};

use crate::Processors;
use crate::processor::Processor;
use crate::random::Random;
use crate::vigil::Left;

/// How many tasks come along with one that is taken from the global queue.
const BATCH: usize = 16;

/// Every so many turns the global queue, or by turns the oldest of its own tasks, comes first:
/// however busily tasks on top of the deque wake each other, those below and those outside get
/// their turn.
const FAIRNESS: u32 = 61;

/// Rounds through all victims in which some race was lost, before the thread yields between rounds.
const RACES: u32 = 4;

/// A processor's own part: its end of its deque, and its way of looking for work. Only its holder
/// can reach it.
#[derive(Debug)]
pub(crate) struct Owner<T> {
    own: usize,
    local: Worker<T>,
    /// Turns until the global queue comes first again.
    turn: Cell<u32>,
    random: Random,
    /// Whose only task the searches since the last [`begin`](Self::begin) have left where it was.
    left: RefCell<Vec<Left>>,
    /// Whether the last one has left any.
    has_left: Cell<bool>,
    /// Whether what it had last that was not its own came from the global queue, and brought others
    /// along.
    is_fed: Cell<bool>,
}

/// What a search does about a victim's only task: the victim is likely to come for it next, and has
/// its data at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Leaves it.
    Fresh,
    /// Leaves it, unless it is the one that was left there before.
    Waning,
    /// Takes it, unless the victim has come for one after the other in the meantime: then it keeps
    /// vigil.
    Spent,
}

impl<T: Send + 'static> Owner<T> {
    pub(crate) fn new(own: usize, local: Worker<T>) -> Self {
        Self {
            own,
            local,
            turn: Cell::new(0),
            random: Random::new(own),
            left: RefCell::new(Vec::new()),
            has_left: Cell::new(false),
            is_fed: Cell::new(false),
        }
    }

    /// Makes a task runnable, on this processor as long as nobody steals it.
    #[inline]
    pub(crate) fn push(&self, task: T) {
        self.local.push(task);
    }

    /// Whether there is exactly one task of its own.
    pub(crate) fn has_one(&self) -> bool {
        self.local.len() == 1
    }

    /// The next task that needs no search: the newest of its own, else the oldest of everybody's
    /// and up to [`BATCH`] more.
    #[inline]
    pub(crate) fn next(&self, pool: &Processors<T>) -> Option<T> {
        let turn = self.turn.get().checked_sub(1);
        let turn = turn.unwrap_or(2 * FAIRNESS - 1);
        self.turn.set(turn);
        if matches!(turn, 0 | FAIRNESS)
            && let Some(task) = self.take_old(pool, turn)
        {
            return Some(task);
        }
        self.local.pop().or_else(|| self.take_global(pool, BATCH))
    }

    /// What comes first in one of so many turns.
    #[cold]
    fn take_old(&self, pool: &Processors<T>, turn: u32) -> Option<T> {
        match turn {
            0 => self.take_global(pool, 0),
            _ => oldest(&pool.queues.processors[self.own]),
        }
    }

    /// A whole search: what needs none, else what another processor has, else a task that had time:
    /// more than one that was only left to its owner for a while.
    pub(crate) fn search(&self, pool: &Processors<T>, patience: Patience) -> Option<T> {
        let urgent = self.next(pool).or_else(|| self.steal(pool, patience));
        if urgent.is_some() || (self.has_left() && patience != Patience::Spent) {
            return urgent;
        }
        self.take_idle_priority(pool)
    }

    /// Half of what another processor has, beginning with a random one: one task to run, the rest
    /// into the own deque.
    fn steal(&self, pool: &Processors<T>, patience: Patience) -> Option<T> {
        let processors = pool.queues.in_reach();
        let counters = &pool.queues.processors[self.own].counters;
        let count = processors.len();
        let mut races_lost = 0;
        self.has_left.set(false);
        loop {
            let first = self.random.below(count);
            let mut lost_a_race = false;
            for victim in (first..count)
                .chain(0..first)
                .filter(|&victim| victim != self.own)
            {
                let stealer = &processors[victim].stealer;
                if let Some(sole) = stealer.sole()
                    && self.leaves(pool, victim, sole, patience)
                {
                    self.has_left.set(true);
                    continue;
                }
                match stealer.steal_half_into(&self.local, usize::MAX) {
                    Steal::Success(task) => {
                        self.is_fed.set(false);
                        counters.steals.add(1);
                        counters.stolen.add(1 + self.local.len() as u64);
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
            // Somebody else got what was there: there may be more, and only "empty" may send a
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

    /// Whether the victim's only task is left to it.
    fn leaves(&self, pool: &Processors<T>, victim: usize, sole: Sole, patience: Patience) -> bool {
        let mut left = self.left.borrow_mut();
        let known = left.iter_mut().find(|left| left.victim == victim);
        let run = &pool.queues.processors[victim].counters.run;
        if patience == Patience::Spent {
            return pool.crew.is_watched(victim)
                || known.is_some_and(|left| {
                    left.vigil = !pool.config().nap.is_zero()
                        && left.is_quick(run.get())
                        && pool.crew.keep_vigil(victim, pool.crew.attached(self.own));
                    left.vigil
                });
        }
        match known {
            Some(left) => {
                patience == Patience::Fresh || std::mem::replace(&mut left.sole, sole) != sole
            }
            None => {
                left.push(Left {
                    victim,
                    sole,
                    run: run.get(),
                    vigil: false,
                });
                true
            }
        }
    }

    /// A search of some rounds begins: nothing has been left yet.
    pub(crate) fn begin(&self) {
        self.left.borrow_mut().clear();
    }

    /// Whether the last round left a task where it was.
    pub(crate) fn has_left(&self) -> bool {
        self.has_left.get()
    }

    /// Whether a stream of tasks comes from outside: then each look takes a cache line from whoever
    /// brings them.
    pub(crate) fn is_fed(&self) -> bool {
        self.is_fed.get()
    }

    /// The search has ended: over whom its machine is to keep vigil.
    pub(crate) fn vigils(&self) -> Vec<Left> {
        let mut left = self.left.borrow_mut();
        left.extract_if(.., |left| left.vigil).collect()
    }

    /// The oldest task of the global queue, and up to `more` of the next ones into the own deque.
    #[inline(never)]
    fn take_global(&self, pool: &Processors<T>, more: usize) -> Option<T> {
        let mut moved = 0;
        let task = pool.queues.injector.pop_batch(more, |task| {
            self.local.push(task);
            moved += 1;
        })?;
        let counters = &pool.queues.processors[self.own].counters;
        self.is_fed.set(moved > 0);
        counters.from_injector.add(1 + moved);
        if moved > 0 {
            // Between the claim and the last push these tasks were in no queue, and a processor
            // that looked for the last time before it slept may have missed them.
            pool.crew.wake_one();
        }
        Some(task)
    }

    /// The oldest task of those that can wait until nobody has anything else to do.
    fn take_idle_priority(&self, pool: &Processors<T>) -> Option<T> {
        let task = pool.queues.idle_priority.pop()?;
        let counters = &pool.queues.processors[self.own].counters;
        counters.idle_priority.add(1);
        Some(task)
    }
}

/// The oldest task of a processor, as a thief sees it.
fn oldest<T: Send>(processor: &Processor<T>) -> Option<T> {
    match processor.stealer.steal() {
        Steal::Success(task) => Some(task),
        // Lost to a thief, who runs it: fair enough.
        Steal::Retry | Steal::Empty => None,
    }
}
