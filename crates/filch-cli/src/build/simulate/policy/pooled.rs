//! The queue of filch's farm before the policies of its pools. A worker asks as its session does.

use std::iter::repeat_n;
use std::mem;
use std::sync::Arc;

use filch::build_scheduler::{Config, Platform, Pool, Pools, Rank};

use super::{Kind, Moment, Policy};
use crate::build::simulate::farm::Worker;
use crate::build::simulate::graph::{Job, Time};
use crate::build::simulate::setting::{Setting, sum};

#[derive(Debug, Clone, Default)]
struct Seat {
    pool: usize,
    /// The part of the worker's platform that is free.
    left: Platform,
    has_asked: bool,
    /// A job that waits for room. Nothing else is picked meanwhile, lest a large one starve.
    next: Option<Job>,
}

#[derive(Default)]
pub(crate) struct Pooled {
    queue: Pools<usize, Job>,
    policies: Vec<Box<dyn Policy>>,
    seats: Vec<Seat>,
    /// The rank of each job, and its number in the queue.
    jobs: Vec<(Arc<Rank>, u64)>,
}

impl Pooled {
    pub(crate) fn new(kind: Kind, farm: &Setting, waits: Config) -> Self {
        let mut all = Self::default();
        for (place, group) in farm.pools.iter().enumerate() {
            let platform = Arc::new(group.platform(u64::MAX));
            let mut pool = Pool::new(place);
            pool.workers = group.number as usize;
            pool.slots = pool.workers * platform.cpus as usize / 1000;
            let seat = Seat {
                pool: place,
                left: Platform::clone(&platform),
                ..Seat::default()
            };
            all.seats.extend(repeat_n(seat, pool.workers));
            all.policies.push(kind.policy(sum(&farm.pools), waits));
            all.queue.pools.insert(platform, pool);
        }
        for group in &farm.invocations {
            let (priority, invocation) = match kind {
                Kind::Fifo => (0, ""),
                _ => (group.priority, &*group.name),
            };
            let rank = Rank {
                priority,
                needs: Arc::new(group.platform(0)),
                invocation: invocation.into(),
            };
            all.jobs
                .extend(repeat_n((Arc::new(rank), 0), group.number as usize));
        }
        all
    }

    fn give(&mut self, moment: &mut Moment<'_, '_>) {
        let mut given = Vec::new();
        let give = |&pool: &usize, &mut job: &mut Job| given.push((pool, job));
        self.queue.give(give, |_| false);
        for (pool, job) in given {
            self.tell(pool, moment, |it, moment| it.ready(job, moment));
        }
    }

    /// Makes a call of a pool's policy, and notes the jobs that workers get next.
    fn tell(
        &mut self,
        pool: usize,
        moment: &mut Moment<'_, '_>,
        news: impl FnOnce(&mut dyn Policy, &mut Moment<'_, '_>),
    ) {
        let mut picked = Vec::new();
        let (now, farm, starts) = (moment.now, moment.farm, &mut picked);
        news(&mut *self.policies[pool], &mut Moment { now, farm, starts });
        for (worker, job) in picked {
            let seat = &mut self.seats[worker as usize];
            (seat.has_asked, seat.next) = (false, Some(job));
            self.free(worker, moment);
        }
    }
}

impl Policy for Pooled {
    fn ready(&mut self, job: Job, moment: &mut Moment<'_, '_>) {
        let (rank, number) = &mut self.jobs[job as usize];
        *number = self.queue.enter(Rank::clone(rank), job);
        self.give(moment);
    }

    /// Begins the next job of the worker if there is room, and asks for another one.
    fn free(&mut self, worker: Worker, moment: &mut Moment<'_, '_>) {
        let seat = &mut self.seats[worker as usize];
        let needs = |job| &self.jobs[job as usize].0.needs;
        if let Some(job) = seat.next.take_if(|job| seat.left.fits(needs(*job))) {
            seat.left.cpus -= needs(job).cpus;
            seat.left.memory -= needs(job).memory;
            moment.starts.push((worker, job));
        }
        let asks = seat.next.is_none() && seat.left.cpus > 0;
        if asks && !mem::replace(&mut seat.has_asked, true) {
            let pool = seat.pool;
            self.tell(pool, moment, |it, moment| it.free(worker, moment));
        }
    }

    fn ended(&mut self, worker: Worker, job: Job, moment: &mut Moment<'_, '_>) {
        let (seat, (rank, number)) = (&mut self.seats[worker as usize], &self.jobs[job as usize]);
        seat.left.cpus += rank.needs.cpus;
        seat.left.memory += rank.needs.memory;
        self.queue.remove(rank, *number);
        let pool = seat.pool;
        self.tell(pool, moment, |it, moment| it.ended(worker, job, moment));
        self.give(moment);
    }

    fn gained(&mut self, worker: Worker, new: Job, moment: &mut Moment<'_, '_>) {
        self.tell(self.seats[worker as usize].pool, moment, |it, moment| {
            it.gained(worker, new, moment);
        });
    }

    fn next_deadline(&self) -> Option<Time> {
        self.policies
            .iter()
            .filter_map(|it| it.next_deadline())
            .min()
    }

    fn advance(&mut self, moment: &mut Moment<'_, '_>) {
        for pool in 0..self.policies.len() {
            self.tell(pool, moment, |it, moment| it.advance(moment));
        }
    }
}
