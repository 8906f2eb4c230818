//! What a thread may run while it waits, and whether that is a part of what it waits for.

use std::iter;
use std::ptr;

use crate::found::Found;
use crate::job::JobRef;
use crate::latch::Awaited;
use crate::region::is_since;
use crate::worker::Worker;

impl Worker {
    /// A job that descends from the one with that latch, from the deque of its thief; or from one
    /// that the thief has begun in a wait. In there lie such jobs as long as it runs; when it is
    /// done, others may come in their place.
    fn steal_back(&self, latch: &impl Awaited) -> Option<Found> {
        let thief = latch.thief()?;
        let seat = self.shared().seat(thief.seat);
        let accept = |index| is_since(index, thief.base) && !latch.is_done();
        let stolen = seat.steal_forked_if(accept)?;
        Some(Found::stolen(stolen, thief.seat))
    }

    /// Whether a job that was just stolen certainly descends from the one with that latch, which
    /// its thief may have begun a moment ago: it runs still, and the job was forked behind it.
    fn is_forked_by(&self, latch: &impl Awaited, found: &Found) -> bool {
        let (Some(thief), Some((seat, index))) = (latch.thief(), found.forked_at()) else {
            return false;
        };
        let nest = &self.shared().seat(seat).nest;
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
