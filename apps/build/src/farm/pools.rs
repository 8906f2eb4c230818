//! The pools of equal workers, what waits for them, and the choice of the next.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::Arc;

use filch_build_scheduler::Scheduler;
use tokio::sync::oneshot;
use tonic::Code;

use super::failure::Failure;
use super::platform::{Platform, Properties};
use super::run::{Outcome, Run, Work};
use super::workers::Roster;
use crate::digest::Digest;

/// The actions in a pool for each slot of its workers: those that run, and a choice.
const AHEAD: usize = 2;
/// The most platforms that a failure names.
const MOST_NAMED: usize = 8;

/// Workers of one platform, and the scheduler that chooses among them. It stops with the last one.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) platform: Arc<Platform>,
    pub(super) scheduler: Scheduler<Digest, Work, Outcome>,
    pub(super) roster: Roster,
}

/// The order of an action in the queue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// A lower one is better.
    pub(super) priority: i32,
    pub(super) needs: Arc<Platform>,
    /// The invocations of a client that belong together.
    pub(super) invocation: Arc<str>,
}

/// The end of a wait in the queue.
pub(super) type Give = oneshot::Sender<Result<Arc<Pool>, Failure>>;

/// The actions that wait, by their numbers.
type Waiting = BTreeMap<Rank, BTreeMap<u64, (Arc<Run>, Give)>>;

#[derive(Debug, Default)]
pub(super) struct State {
    /// The pools, and those whose last worker has gone a moment ago.
    pub(super) pools: BTreeMap<Arc<Platform>, Members>,
    pub(super) waiting: Waiting,
    /// The last turn of each invocation that waits and has had one.
    turns: HashMap<Arc<str>, u64>,
    count: u64,
    pub(super) stopped: bool,
}

/// The actions in a pool by their needs and numbers, and the slots of each.
type Given = BTreeMap<Arc<Platform>, BTreeMap<u64, (Arc<Run>, usize)>>;

#[derive(Debug)]
pub(super) struct Members {
    pub(super) pool: Arc<Pool>,
    pub(super) workers: usize,
    /// Those of the workers that take actions now.
    pub(super) slots: usize,
    /// The slots that its actions take.
    pub(super) taken: usize,
    pub(super) given: Given,
    /// The number of the last worker's departure.
    pub(super) left: u64,
}

impl State {
    pub(super) fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Gives pools with room their next actions.
    pub(super) fn give(&mut self) {
        while let Some((rank, number, platform)) = self.choose() {
            let turn = self.next();
            let (give, members) = (self.take(&rank, number), self.pools.get_mut(&platform));
            let (Some((run, give)), Some(members)) = (give, members) else {
                return;
            };
            // Its share of a worker, in slots.
            let share = rank.needs.cpus * members.slots as u64;
            let share = share.div_ceil(platform.cpus * members.workers as u64);
            let slots = usize::try_from(share).unwrap_or(1).max(1);
            members.taken += slots;
            let given = members.given.entry(rank.needs).or_default();
            given.insert(number, (run, slots));
            // If nobody listens, its place is about to be dropped.
            let _ = give.send(Ok(Arc::clone(&members.pool)));
            if waits(&self.waiting, &rank.invocation) {
                self.turns.insert(rank.invocation, turn);
            }
        }
        self.recall();
    }

    /// Chooses the next action, and the pool for it: one with a free slot, if there is one.
    fn choose(&self) -> Option<(Rank, u64, Arc<Platform>)> {
        let room = |it: &Members| (AHEAD * it.slots).saturating_sub(it.taken);
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

    /// Recalls an action that waits in a full pool while another one has a free slot for it.
    fn recall(&mut self) {
        let idle = self.pools.iter().filter(|(_, it)| it.taken < it.slots);
        let idle: Vec<_> = idle.map(|(platform, _)| platform).collect();
        let full = self.pools.values().filter(|it| it.taken > it.slots);
        let given = full.flat_map(|it| &it.given);
        let mut given = given.filter(|(needs, _)| idle.iter().any(|it| it.fits(needs)));
        let recalled = given.find_map(|(needs, given)| {
            let mut latest = given.iter().rev();
            let (number, (run, _)) = latest.find(|(_, (run, _))| run.recall())?;
            // It waits for news of its priority.
            run.priority.send_modify(|_| ());
            Some((Arc::clone(needs), *number))
        });
        if let Some((needs, number)) = recalled {
            self.free(&needs, number);
        }
    }

    /// Takes an action out of its pool, if it is in one.
    pub(super) fn free(&mut self, needs: &Arc<Platform>, number: u64) {
        for members in self.pools.values_mut() {
            if let Some(given) = members.given.get_mut(needs)
                && let Some((_, slots)) = given.remove(&number)
            {
                members.taken -= slots;
                if given.is_empty() {
                    members.given.remove(needs);
                }
            }
        }
    }

    /// Takes an action out of the queue.
    pub(super) fn take(&mut self, rank: &Rank, number: u64) -> Option<(Arc<Run>, Give)> {
        let waiting = self.waiting.get_mut(rank)?;
        let give = waiting.remove(&number);
        if waiting.is_empty() {
            self.waiting.remove(rank);
            if !waits(&self.waiting, &rank.invocation) {
                self.turns.remove(&rank.invocation);
            }
        }
        give
    }

    pub(super) fn is_absent(&self, expected: &Properties) -> bool {
        let mut known = self.pools.keys();
        !known.any(|platform| expected.is_subset(&platform.properties))
    }

    /// Returns the reason that no worker can ever run the action, if so.
    pub(super) fn refusal(&self, needs: &Platform, expected: &[Properties]) -> Option<Failure> {
        if self.stopped {
            return Some(Failure::stopped());
        }
        // The capacity of workers that have not come is not known.
        let comes = |expected: &Properties| {
            needs.properties.is_subset(expected) && self.is_absent(expected)
        };
        let fits = self.pools.keys().any(|platform| platform.fits(needs));
        if fits || expected.iter().any(comes) {
            return None;
        }
        let known = self.pools.keys().take(MOST_NAMED);
        let known: Vec<_> = known.map(ToString::to_string).collect();
        let known = match self.pools.len() - known.len() {
            0 => known.join("; "),
            more => format!("{}; and {more} others", known.join("; ")),
        };
        let what = format!("no worker can run the action: it asks for {needs}; there is: {known}");
        Some(Failure::new(Code::FailedPrecondition, what))
    }

    /// Ends the wait of actions that no worker can run any more.
    pub(super) fn refuse(&mut self, expected: &[Properties]) {
        for (rank, waiting) in mem::take(&mut self.waiting) {
            let Some(refusal) = self.refusal(&rank.needs, expected) else {
                self.waiting.insert(rank, waiting);
                continue;
            };
            for (_, give) in waiting.into_values() {
                let _ = give.send(Err(refusal.clone()));
            }
        }
        let waiting = &self.waiting;
        self.turns
            .retain(|invocation, _| waits(waiting, invocation));
    }
}

fn waits(waiting: &Waiting, invocation: &Arc<str>) -> bool {
    waiting.keys().any(|rank| rank.invocation == *invocation)
}
