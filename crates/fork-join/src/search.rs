//! The search of a thread for jobs: where it looks, and what it may take while it waits.

use std::iter;
use std::ptr;

use crate::isolation::is_since;
use crate::job::JobRef;
use crate::latch::Awaited;
use crate::worker::Worker;

/// A job that was taken out of its queue.
pub(crate) struct Found {
    pub(crate) job: JobRef,
    /// `true` if forked in an isolated region. (One that was spawned knows that itself.)
    pub(crate) is_isolated: bool,
}

impl From<JobRef> for Found {
    fn from(job: JobRef) -> Self {
        Self {
            job,
            is_isolated: false,
        }
    }
}

impl Worker {
    /// Finds a job that this worker has spawned, or must run itself; one that it or another worker
    /// has forked; or one from outside. If there is none, one that another worker keeps to itself.
    pub(crate) fn find(&self) -> Option<Found> {
        let insist = || self.shared.insist(Some(self.seat));
        self.find_own()
            .or_else(|| self.steal())
            .or_else(|| self.shared.common.pop().map(Found::from))
            .or_else(|| insist().then(|| self.steal())?)
    }

    /// Finds a job that this worker has spawned, or one that is for this thread alone.
    #[inline(always)]
    pub(crate) fn find_own(&self) -> Option<Found> {
        let only_own = || {
            let own = &self.own_seat().own;
            // A look spares most of what an empty queue costs.
            (!own.is_empty()).then(|| own.pop())?
        };
        self.owner.spawned.pop().or_else(only_own).map(Found::from)
    }

    /// Finds a job that was spawned here in the isolated region that the thread is in.
    pub(crate) fn find_in_region(&self) -> Option<Found> {
        let since = self.isolated_since.get()?;
        let spawned = &self.owner.spawned;
        let job = (spawned.position() > since).then(|| spawned.pop());
        job.flatten().map(Found::from)
    }

    /// Finds any job that may run on top of what this thread runs.
    pub(crate) fn find_allowed(&self) -> Option<Found> {
        match self.is_isolated() {
            true => self.find_in_region(),
            false => self.find(),
        }
    }

    /// Steals the oldest job of a worker that shares some. One of its own is stolen, too: it waits
    /// in a frame of this thread's, and that has something else to wait for now.
    fn steal(&self) -> Option<Found> {
        let count = self.shared.seat_count();
        let first = self.next_victim.get();
        for victim in (0..count).map(|step| (first + step) % count) {
            if victim == self.seat && self.forks().is_empty() {
                continue;
            }
            if let Some(job) = self.steal_of(victim) {
                self.next_victim.set(victim);
                return Some(job);
            }
        }
        self.next_victim.set(first + 1);
        None
    }

    /// Steals the oldest job of that seat's: forked, or else spawned.
    pub(crate) fn steal_of(&self, victim: usize) -> Option<Found> {
        let seat = self.shared.seat(victim);
        seat.steal_forked_if(|_| true)
            .or_else(|| seat.steal_spawned().map(Found::from))
    }

    /// Steals a job that descends from the one with that latch, from the deque of its thief; or
    /// from one that the thief has begun in a wait. In there lie such jobs as long as it runs; when
    /// it is done, others may come in their place.
    fn steal_back(&self, latch: &impl Awaited) -> Option<Found> {
        let thief = latch.thief()?;
        let seat = self.shared.seat(thief.seat);
        let accept = |index| is_since(index, thief.base) && !latch.is_done();
        seat.steal_forked_if(accept)
    }

    /// Finds something that a wait for `awaited` may run. In an isolated region, a part of it:
    /// there the thief, too, begins nothing else.
    pub(crate) fn find_beside(&self, awaited: &impl Awaited) -> Option<Found> {
        let share = || {
            let count = ptr::from_ref(awaited).cast();
            self.is_isolated().then(|| self.find_share_of(count))?
        };
        self.steal_back(awaited)
            .or_else(|| self.find_allowed())
            .or_else(|| share().map(Found::from))
    }

    /// Finds a job for this thread alone, of the scope that has its count there. The others stay.
    fn find_share_of(&self, count: *const ()) -> Option<JobRef> {
        let own = &self.own_seat().own;
        let mut others = Vec::new();
        let share = iter::from_fn(|| own.pop()).find_map(|job| match job.is_of(count) {
            true => Some(job),
            false => {
                others.push(job);
                None
            }
        });
        others.into_iter().for_each(|job| own.push(job));
        share
    }
}
