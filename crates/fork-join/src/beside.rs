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
    /// that the thief has begun in a wait, and then it is not said to be a part. In there lie such
    /// jobs as long as it runs; when it is done, others may come in their place.
    fn steal_back(&self, latch: &(impl Awaited + ?Sized)) -> Option<Found<Self>> {
        let thief = latch.thief()?;
        let seat = self.shared().seat(thief.seat);
        let accept = |index| is_since(index, thief.base) && !latch.is_done();
        let stolen = seat.steal_forked_if(accept)?;
        let is_part = seat.nest.is_part(stolen.index, thief.base);
        Some(Found::stolen(stolen, is_part))
    }

    /// Something that a wait for `awaited` may run.
    pub(crate) fn find_beside(&self, awaited: &(impl Awaited + ?Sized)) -> Option<Found<Self>> {
        let count = ptr::from_ref(awaited).cast();
        if let Some(found) = self.steal_back(awaited) {
            let is_part = found.is_part || self.is_isolated();
            return Some(Found { is_part, ..found });
        }
        if self.is_isolated() {
            let spawned = self.find_in_region();
            return spawned.or_else(|| self.find_share_of(count).map(Found::part));
        }
        let found = self.find()?;
        let is_part = found.job.is_of(count);
        Some(Found { is_part, ..found })
    }

    /// A job that is for this thread alone, and of the scope that has its count there. The others
    /// stay.
    fn find_share_of(&self, count: *const ()) -> Option<JobRef<Self>> {
        if self.shared().broadcasts() == self.seen_broadcasts.get() {
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
