//! The queue of actions, and the pools of equal workers to which it gives them.

use std::sync::{Arc, Mutex, MutexGuard};

use filch_build_scheduler::{self as scheduler, Config, Platform, Properties, Rank, Scheduler};
use filch_sync::lock;
use filch_timers::Timers;
use tokio::sync::oneshot;

use super::failure::Failure;
use super::pools::{Entered, Known, Pool, State};
use super::run::Run;
use super::workers::Roster;
use crate::digest::Digest;

/// The queue and the pools.
#[derive(Debug)]
pub(super) struct Queue {
    waits: Config,
    timers: Timers,
    /// The platforms for which actions wait even if there is no worker.
    expected: Vec<Properties>,
    state: Mutex<State>,
}

/// An action's place in the queue or in a pool. Dropping it makes room, and withdraws its job.
#[derive(Debug)]
pub(super) struct Place<'a> {
    queue: &'a Queue,
    rank: Rank,
    number: u64,
    job: Digest,
    /// Set once it has one.
    pool: Option<Arc<Pool>>,
}

impl Queue {
    pub(super) fn new(waits: Config, timers: Timers, expected: Vec<Properties>) -> Self {
        Self {
            waits,
            timers,
            expected,
            state: Mutex::default(),
        }
    }

    /// Waits until a pool has room for the action, whose job in there has that name. The run is
    /// [recalled](Run::recall) if it had better go to another pool.
    ///
    /// # Errors
    /// If no worker fits it: none that is here, was here a moment ago, or is expected.
    pub(super) async fn enter(
        &self,
        rank: Rank,
        run: &Arc<Run>,
        job: Digest,
    ) -> Result<(Arc<Pool>, Place<'_>), Failure> {
        let (give, given) = oneshot::channel();
        let mut place = {
            let mut state = self.lock();
            if let Some(refusal) = state.refusal(&rank.needs, &self.expected) {
                return Err(refusal);
            }
            let entered = Entered {
                run: Arc::clone(run),
                give: Some(give),
            };
            let number = state.queue.enter(rank.clone(), entered);
            state.give();
            Place {
                queue: self,
                rank,
                number,
                job,
                pool: None,
            }
        };
        // The queue drops no sender that it has not used.
        let pool = given.await.unwrap_or_else(|_| Err(Failure::stopped()))?;
        place.pool = Some(Arc::clone(&pool));
        Ok((pool, place))
    }

    /// Adds a worker to the pool of its platform.
    pub(super) fn join(&self, platform: Platform, slots: usize) -> Arc<Pool> {
        let mut state = self.lock();
        let platform = Arc::new(platform);
        let old = state.queue.pools.remove(&platform);
        let mut members = old.filter(|it| it.workers > 0).unwrap_or_else(|| {
            let pool = Arc::new(Pool {
                platform: Arc::clone(&platform),
                scheduler: Scheduler::new(self.waits, &self.timers),
                roster: Roster::default(),
            });
            scheduler::Pool::new(Known { pool, left: 0 })
        });
        members.workers += 1;
        members.slots += slots;
        let pool = Arc::clone(&members.content.pool);
        state.queue.pools.insert(platform, members);
        // An expected platform may turn out to be smaller than an action hoped.
        state.refuse(&self.expected);
        state.give();
        pool
    }

    /// Notes that the slots of a worker take actions again, or take none for now.
    pub(super) fn count(&self, pool: &Pool, slots: usize, counts: bool) {
        let mut state = self.lock();
        if let Some(members) = state.queue.pools.get_mut(&pool.platform) {
            match counts {
                true => members.slots += slots,
                false => members.slots -= slots,
            }
        }
        state.give();
    }

    /// Takes a worker, whose slots do not count, out of its pool. After the last one, the pool's
    /// actions look for others, and the number is returned with which [`forget`](Self::forget) is
    /// due after a while.
    pub(super) fn leave(&self, pool: &Pool) -> Option<u64> {
        let mut state = self.lock();
        let number = state.queue.next_number();
        let members = state.queue.pools.get_mut(&pool.platform)?;
        members.workers -= 1;
        members.content.left = number;
        let is_last = members.workers == 0;
        drop(state);
        if is_last {
            drop(pool.scheduler.stop());
        }
        is_last.then_some(number)
    }

    /// Forgets a platform to which no worker has come since that departure.
    pub(super) fn forget(&self, platform: &Arc<Platform>, number: u64) {
        let mut state = self.lock();
        let pool = state.queue.pools.get(platform);
        if pool.is_some_and(|it| it.workers == 0 && it.content.left == number) {
            state.queue.pools.remove(platform);
            state.refuse(&self.expected);
        }
    }

    /// Ends the wait of all actions in the queue, and of later ones.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.refuse(&self.expected);
    }

    /// Returns the pools that have workers.
    pub(super) fn pools(&self) -> Vec<Arc<Pool>> {
        let state = self.lock();
        let pools = state.queue.pools.values().filter(|it| it.workers > 0);
        let pools = pools.map(|it| Arc::clone(&it.content.pool));
        pools.collect()
    }

    /// Returns, for people, the platforms that have no worker.
    pub(super) fn absent(&self) -> Vec<String> {
        let state = self.lock();
        let gone = state.queue.pools.iter().filter(|(_, it)| it.workers == 0);
        let gone = gone.map(|(platform, _)| platform.to_string());
        let comes = |expected: &&Properties| !expected.is_empty() && state.is_absent(expected);
        let expected = self.expected.iter().filter(comes).cloned();
        let expected = expected.map(|properties| {
            let platform = Platform {
                properties,
                ..Platform::default()
            };
            platform.to_string()
        });
        gone.chain(expected).collect()
    }

    /// Returns the number of actions that wait or run.
    pub(super) fn len(&self) -> usize {
        self.lock().queue.jobs()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.queue.remove(&self.rank, self.number);
        state.give();
        drop(state);
        if let Some(pool) = &self.pool {
            // Most often it is over.
            drop(pool.scheduler.withdraw_job(self.job));
        }
    }
}
