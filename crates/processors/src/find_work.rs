//! The order in which a processor looks for work. One page, on purpose: this is what a scheduler is.

use filch_deque::{Steal, Worker};
use filch_sync::{hint, thread};

use crate::Processors;
use crate::processor::Processor;
use crate::random::Random;

/// How many tasks come along with one that is taken from the global queue.
const BATCH: usize = 16;

/// Every so many turns the global queue, or by turns the oldest of its own tasks, comes first: however busily tasks on top
/// of the deque wake each other, those below and those outside get their turn.
const FAIRNESS: u32 = 61;

/// Rounds through all victims in which some race was lost, before the thread yields between rounds.
const RACES: u32 = 4;

/// A processor's way of looking for work.
#[derive(Debug)]
pub(crate) struct Search {
    own: usize,
    turn: u32,
    random: Random,
}

impl Search {
    pub(crate) fn new(own: usize) -> Self {
        Self {
            own,
            turn: 0,
            random: Random::new(own),
        }
    }

    /// The next task that needs no search: the newest of its own, else the oldest of everybody's and up to
    /// [`BATCH`] more.
    pub(crate) fn next<T: Send + 'static>(
        &mut self,
        pool: &Processors<T>,
        local: &Worker<T>,
    ) -> Option<T> {
        self.turn = (self.turn + 1) % (2 * FAIRNESS);
        let fair = match self.turn {
            0 => self.take_global(pool, local, 0),
            FAIRNESS => oldest(&pool.processors[self.own]),
            _ => None,
        };
        if fair.is_some() {
            return fair;
        }
        local.pop().or_else(|| self.take_global(pool, local, BATCH))
    }

    /// Half of what another processor has, beginning with a random one: one task to run, the rest into `local`.
    pub(crate) fn steal<T: Send + 'static>(
        &mut self,
        pool: &Processors<T>,
        local: &Worker<T>,
    ) -> Option<T> {
        let counters = &pool.processors[self.own].counters;
        let count = pool.processors.len();
        let mut races_lost = 0;
        loop {
            let first = self.random.below(count);
            let mut lost_a_race = false;
            for victim in (first..count)
                .chain(0..first)
                .filter(|&victim| victim != self.own)
            {
                match pool.processors[victim]
                    .stealer
                    .steal_half_into(local, usize::MAX)
                {
                    Steal::Success(task) => {
                        counters.steals.add(1);
                        counters.stolen.add(1 + local.len() as u64);
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
            // Somebody else got what was there: there may be more, and only "empty" may send a processor to sleep. Or an owner
            // was preempted while it replaced its ring: then it needs this core, perhaps.
            races_lost += 1;
            if races_lost < RACES {
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }

    /// The oldest task of the global queue, and up to `more` of the next ones into `local`.
    fn take_global<T: Send + 'static>(
        &self,
        pool: &Processors<T>,
        local: &Worker<T>,
        more: usize,
    ) -> Option<T> {
        let mut moved = 0;
        let task = pool.injector.pop_batch(more, |task| {
            local.push(task);
            moved += 1;
        })?;
        pool.processors[self.own]
            .counters
            .from_injector
            .add(1 + moved);
        if moved > 0 {
            // Between the claim and the last push these tasks were in no queue, and a processor that looked for the last time
            // before it slept may have missed them.
            pool.wake_one();
        }
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
