//! The queue before several schedulers: jobs for many platforms, and of many invocations.

mod platform;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

pub use platform::{Platform, Properties};

/// The jobs in a pool for each slot of its workers: those that run, and a choice.
const AHEAD: usize = 2;

/// The order of a job in the queue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// A lower one is better.
    pub priority: i32,
    /// The platform that it asks for.
    pub needs: Arc<Platform>,
    /// The name of what takes turns.
    pub invocation: Arc<str>,
}

/// The workers of one platform, and the jobs that they have.
#[derive(Debug)]
pub struct Pool<W, J> {
    /// The content: most often a scheduler.
    pub content: W,
    /// The number of workers.
    pub workers: usize,
    /// Those of the workers that take jobs now.
    pub slots: usize,
    /// The slots that its jobs take.
    taken: usize,
    /// The jobs by their needs and numbers, and the slots of each.
    given: BTreeMap<Arc<Platform>, BTreeMap<u64, (J, usize)>>,
}

impl<W, J> Pool<W, J> {
    /// Makes a pool without workers.
    pub fn new(content: W) -> Self {
        Self {
            content,
            workers: 0,
            slots: 0,
            taken: 0,
            given: BTreeMap::new(),
        }
    }
}

/// The pools of equal workers, each with a content `W`, and the jobs `J` that wait for them. Uses
/// neither threads nor a clock.
///
/// A pool has a few jobs more than its workers run, so that its scheduler has a choice. All others
/// are in the queue. The next one has the best priority; among equals, it is of the invocation
/// whose turn was longest ago. It goes to the pool with the most room.
#[derive(Debug)]
pub struct Pools<W, J> {
    /// The pools. After a change, [`give`](Self::give) is due.
    pub pools: BTreeMap<Arc<Platform>, Pool<W, J>>,
    /// The jobs that wait, by their numbers.
    waiting: BTreeMap<Rank, BTreeMap<u64, J>>,
    /// The last turn of each invocation that waits and has had one.
    turns: HashMap<Arc<str>, u64>,
    count: u64,
}

impl<W, J> Default for Pools<W, J> {
    fn default() -> Self {
        Self {
            pools: BTreeMap::new(),
            waiting: BTreeMap::new(),
            turns: HashMap::new(),
            count: 0,
        }
    }
}

impl<W, J> Pools<W, J> {
    /// Returns a number that is larger than those before, of jobs as well.
    pub fn next_number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Lets a job wait, and returns its number. [`give`](Self::give) is due.
    pub fn enter(&mut self, rank: Rank, job: J) -> u64 {
        let number = self.next_number();
        self.waiting.entry(rank).or_default().insert(number, job);
        number
    }

    /// Gives pools with room their next jobs. A job in a full pool for which another one has a free
    /// slot is recalled: it has left its pool if `recall` returns true, as it has not begun.
    pub fn give(&mut self, mut give: impl FnMut(&W, &mut J), recall: impl FnMut(&J) -> bool) {
        while let Some((rank, number, platform)) = self.choose() {
            let turn = self.next_number();
            let (job, pool) = (self.take(&rank, number), self.pools.get_mut(&platform));
            let (Some(mut job), Some(pool)) = (job, pool) else {
                return;
            };
            // Its share of a worker, in slots.
            let share = rank.needs.cpus * pool.slots as u64;
            let share = share.div_ceil(platform.cpus * pool.workers as u64);
            let slots = usize::try_from(share).unwrap_or(1).max(1);
            pool.taken += slots;
            give(&pool.content, &mut job);
            let given = pool.given.entry(rank.needs).or_default();
            given.insert(number, (job, slots));
            if waits(&self.waiting, &rank.invocation) {
                self.turns.insert(rank.invocation, turn);
            }
        }
        self.recall(recall);
    }

    /// Chooses the next job, and the pool for it: one with a free slot, if there is one.
    fn choose(&self) -> Option<(Rank, u64, Arc<Platform>)> {
        let room = |it: &Pool<W, J>| (AHEAD * it.slots).saturating_sub(it.taken);
        let pools: Vec<_> = self.pools.iter().filter(|(_, it)| room(it) > 0).collect();
        let mut best: Option<(_, &Rank, u64, &Arc<Platform>)> = None;
        for (rank, waiting) in &self.waiting {
            let fitting = pools.iter().filter(|(it, _)| it.fits(&rank.needs));
            let widest = fitting.max_by_key(|(_, it)| (it.taken < it.slots, room(it)));
            let (Some((platform, _)), Some((&number, _))) = (widest, waiting.first_key_value())
            else {
                continue;
            };
            let turn = self.turns.get(&rank.invocation).copied().unwrap_or(0);
            let order = (rank.priority, turn, number);
            if best.is_none_or(|(best, ..)| order < best) {
                best = Some((order, rank, number, platform));
            }
        }
        let (_, rank, number, platform) = best?;
        Some((rank.clone(), number, Arc::clone(platform)))
    }

    fn recall(&mut self, mut recall: impl FnMut(&J) -> bool) {
        let idle = self.pools.iter().filter(|(_, it)| it.taken < it.slots);
        let idle: Vec<_> = idle.map(|(platform, _)| platform).collect();
        let full = self.pools.values().filter(|it| it.taken > it.slots);
        let given = full.flat_map(|it| &it.given);
        let mut given = given.filter(|(needs, _)| idle.iter().any(|it| it.fits(needs)));
        let recalled = given.find_map(|(needs, given)| {
            let mut latest = given.iter().rev();
            let (number, _) = latest.find(|(_, (job, _))| recall(job))?;
            Some((Arc::clone(needs), *number))
        });
        if let Some((needs, number)) = recalled {
            self.free(&needs, number);
        }
    }

    /// Forgets a job, whether it waits or is in a pool. [`give`](Self::give) is due.
    pub fn remove(&mut self, rank: &Rank, number: u64) {
        self.take(rank, number);
        self.free(&rank.needs, number);
    }

    /// Takes a job out of its pool, if it is in one.
    fn free(&mut self, needs: &Arc<Platform>, number: u64) {
        for pool in self.pools.values_mut() {
            if let Some(given) = pool.given.get_mut(needs)
                && let Some((_, slots)) = given.remove(&number)
            {
                pool.taken -= slots;
                if given.is_empty() {
                    pool.given.remove(needs);
                }
            }
        }
    }

    /// Takes a job out of the queue, if it waits.
    fn take(&mut self, rank: &Rank, number: u64) -> Option<J> {
        let waiting = self.waiting.get_mut(rank)?;
        let job = waiting.remove(&number);
        if waiting.is_empty() {
            self.waiting.remove(rank);
            if !waits(&self.waiting, &rank.invocation) {
                self.turns.remove(&rank.invocation);
            }
        }
        job
    }

    /// Returns the platforms that the waiting jobs ask for.
    pub fn needs(&self) -> BTreeSet<Arc<Platform>> {
        let needs = self.waiting.keys().map(|rank| Arc::clone(&rank.needs));
        needs.collect()
    }

    /// Takes all jobs out of the queue that ask for that platform.
    pub fn take_all(&mut self, needs: &Platform) -> Vec<J> {
        let ranks = self.waiting.keys().filter(|rank| *rank.needs == *needs);
        let ranks: Vec<_> = ranks.cloned().collect();
        let taken = ranks.iter().filter_map(|rank| self.waiting.remove(rank));
        let taken = taken.flat_map(BTreeMap::into_values).collect();
        let waiting = &self.waiting;
        self.turns
            .retain(|invocation, _| waits(waiting, invocation));
        taken
    }

    /// Returns the number of jobs that wait or are in pools.
    pub fn jobs(&self) -> usize {
        let given = self.pools.values().flat_map(|pool| pool.given.values());
        let waiting: usize = self.waiting.values().map(BTreeMap::len).sum();
        waiting + given.map(BTreeMap::len).sum::<usize>()
    }
}

fn waits<J>(waiting: &BTreeMap<Rank, J>, invocation: &Arc<str>) -> bool {
    waiting.keys().any(|rank| rank.invocation == *invocation)
}
