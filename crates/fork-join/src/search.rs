//! What a thread may run: where it looks, and what it may take while it waits for something.

use std::iter;
use std::ptr;

use crate::isolation::is_since;
use crate::job::JobRef;
use crate::latch::{Awaited, MAX_SEATS};
use crate::worker::Worker;

/// A job that was taken out of its queue. Of two words, so that no frame beneath the job keeps it.
pub(crate) struct Found {
    pub(crate) job: JobRef,
    /// Where it lay in the deque of the thread that forked it.
    pub(crate) index: u32,
    /// The seat of that thread, or [`NOWHERE`].
    pub(crate) seat: u16,
    /// It was forked in an isolated region. (One that was spawned knows that itself.)
    pub(crate) is_isolated: bool,
    /// It is known to be a part of what the thread that has it waits for.
    pub(crate) is_part: bool,
}

/// No seat: the job was not forked.
const NOWHERE: u16 = u16::MAX;

const _: () = assert!(MAX_SEATS < NOWHERE as usize);

impl Found {
    pub(crate) fn part(job: JobRef) -> Self {
        Self {
            is_part: true,
            ..Self::from(job)
        }
    }

    /// In which seat it was forked, and where it lay in the deque there.
    pub(crate) fn forked_at(&self) -> Option<(usize, u32)> {
        (self.seat != NOWHERE).then_some((self.seat.into(), self.index))
    }
}

impl From<JobRef> for Found {
    fn from(job: JobRef) -> Self {
        Self {
            job,
            index: 0,
            seat: NOWHERE,
            is_isolated: false,
            is_part: false,
        }
    }
}

impl Worker {
    /// A job that this worker has spawned, or must run itself; one that it or another worker has
    /// forked; or one from outside. If there is none, one that another worker keeps to itself.
    pub(crate) fn find(&self) -> Option<Found> {
        let insist = || self.shared.insist(Some(self.seat));
        self.find_own()
            .or_else(|| self.steal())
            .or_else(|| self.shared.common.pop().map(Found::from))
            .or_else(|| insist().then(|| self.steal())?)
    }

    #[inline(always)]
    pub(crate) fn find_own(&self) -> Option<Found> {
        let spawned = self.owner.spawned.pop().map(Found::from);
        spawned.or_else(|| self.find_only_own())
    }

    /// In an isolated region, a job that was spawned in it, here.
    pub(crate) fn find_in_region(&self) -> Option<Found> {
        let since = self.isolated_since.get()?;
        let spawned = &self.owner.spawned;
        let job = (spawned.position() > since).then(|| spawned.pop());
        job.flatten().map(Found::part)
    }

    /// Any job that may run on top of what this thread runs.
    pub(crate) fn find_allowed(&self) -> Option<Found> {
        match self.is_isolated() {
            true => self.find_in_region(),
            false => self.find(),
        }
    }

    /// Whether there may be a job that is for this thread alone.
    pub(crate) fn may_have_only_own(&self) -> bool {
        self.shared.broadcasts() != self.seen_broadcasts.get()
    }

    /// A job that is for this thread alone.
    pub(crate) fn find_only_own(&self) -> Option<Found> {
        let broadcasts = self.shared.broadcasts();
        if broadcasts == self.seen_broadcasts.get() {
            return None;
        }
        let job = self.own_seat().own.pop();
        if job.is_none() {
            self.seen_broadcasts.set(broadcasts);
        }
        job.map(Found::from)
    }

    /// The oldest job of a worker that shares some. One of its own is stolen, too: it waits in a
    /// frame of this thread's, and that has something else to wait for now.
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

    /// The oldest job of that seat's: forked, or else spawned.
    pub(crate) fn steal_of(&self, victim: usize) -> Option<Found> {
        let seat = self.shared.seat(victim);
        seat.steal_forked_if(victim, |_| true)
            .or_else(|| seat.steal_spawned().map(Found::from))
    }

    /// A job that descends from the one with that latch, from the deque of its thief; or from one
    /// that the thief has begun in a wait. In there lie such jobs as long as it runs; when it is
    /// done, others may come in their place.
    fn steal_back(&self, latch: &impl Awaited) -> Option<Found> {
        let thief = latch.thief()?;
        let seat = self.shared.seat(thief.seat);
        let accept = |index| is_since(index, thief.base) && !latch.is_done();
        seat.steal_forked_if(thief.seat, accept)
    }

    /// Whether a job that was just stolen certainly descends from the one with that latch, which
    /// its thief may have begun a moment ago: it runs still, and the job was forked behind it.
    fn is_forked_by(&self, latch: &impl Awaited, found: &Found) -> bool {
        let (Some(thief), Some((seat, index))) = (latch.thief(), found.forked_at()) else {
            return false;
        };
        let nest = &self.shared.seat(seat).nest;
        let is_behind = seat == thief.seat && is_since(index, thief.base);
        is_behind && nest.is_part(index, thief.base) && !latch.is_done()
    }

    /// Something that a wait for `awaited` may run.
    pub(crate) fn find_beside(&self, awaited: &impl Awaited) -> Option<Found> {
        let count = ptr::from_ref(awaited).cast();
        if let Some(found) = self.steal_back(awaited) {
            let is_part = self.is_isolated() || self.is_forked_by(awaited, &found);
            return Some(Found { is_part, ..found });
        }
        if self.is_isolated() {
            let spawned = self.find_in_region();
            return spawned.or_else(|| self.find_share_of(count).map(Found::part));
        }
        let found = self.find()?;
        let is_part = found.job.is_of(count) || self.is_forked_by(awaited, &found);
        Some(Found { is_part, ..found })
    }

    /// A job that is for this thread alone, and of the scope that has its count there. The others
    /// stay.
    fn find_share_of(&self, count: *const ()) -> Option<JobRef> {
        if !self.may_have_only_own() {
            return None;
        }
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
