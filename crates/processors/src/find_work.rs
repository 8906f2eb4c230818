//! The order in which a processor looks for work. One page, on purpose: this is what a scheduler is.

use filch_deque::{Steal, Worker};

use crate::Processors;
use crate::processor::Processor;
use crate::random::Random;

/// How many tasks come along with one that is taken from the global queue.
const BATCH: usize = 16;

/// Every so many turns the global queue, and the oldest of its own tasks, come first: however busily tasks on top of
/// the deque wake each other, those below it and those outside get their turn.
const FAIRNESS: u32 = 61;

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
        self.turn = (self.turn + 1) % FAIRNESS;
        if self.turn == 0
            && let Some(task) = self
                .take_global(pool, local, 0)
                .or_else(|| oldest(&pool.processors[self.own]))
        {
            return Some(task);
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
            // Somebody else got what was there: there may be more, and only "empty" may send a processor to sleep.
            if !lost_a_race {
                counters.failed_steals.add(1);
                return None;
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
