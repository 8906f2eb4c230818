//! Another number of processors, while tasks run.
//!
//! The world is not stopped. Each processor changes hands by the usual edges, and a surplus
//! processor is given up by the machine with its permit. No other machine pushes into its deque, so
//! that machine can move what is there and be sure that nothing comes after.

use filch_sync::atomic::{Ordering, fence};

use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::grant::Grant;
use crate::protocol::state::permit::Permit;
use crate::protocol::state::synced::Synced;
use crate::protocol::state::work::Work;

impl Coordinator {
    /// Starts a machine for each of the first `count` processors, all of which are inactive;
    /// `start` starts the thread for the place that it is told. Whether all could be had, and the
    /// pool has not been stopped meanwhile; if not, there is none.
    pub fn start_all(&self, count: usize, mut start: impl FnMut(usize) -> bool) -> bool {
        let mut machines = Vec::new();
        while machines.len() < count {
            let place = self.place_within_limit(&mut self.synced());
            match place.filter(|&place| self.try_start(place, &mut start)) {
                Some(place) => machines.push(place),
                None => break,
            }
        }
        // No machine runs before this, so none that blocks could have taken one of the places.
        // Under one lock, so that the end does not come in between.
        let mut synced = self.synced();
        let complete = machines.len() == count && !synced.over;
        for (processor, machine) in machines.into_iter().enumerate() {
            let permit = complete.then(|| self.activate(processor, &mut synced));
            match permit.flatten() {
                Some(permit) => self.grant(machine, Grant::Run(permit)),
                None => self.tell_to_exit(machine, &mut synced),
            }
        }
        complete
    }

    /// Raises the number to `processor + 1`, from one less. An inactive processor is given to a
    /// spare machine, or to one that `start` starts. Whether there was one, and the pool is not
    /// over.
    pub fn grow(&self, processor: usize, start: impl FnOnce(usize) -> bool) -> bool {
        let mut synced = self.synced();
        if synced.over {
            return false;
        }
        if synced.inactive[processor].is_none() {
            // Its machine has not noticed yet that it was to give it up; now it need not.
            self.raise_active(processor + 1);
            return true;
        }
        let machine = match synced.spares.pop() {
            Some(spare) => spare,
            None => {
                let place = self.place_within_limit(&mut synced);
                drop(synced);
                let Some(place) = place.filter(|&place| self.try_start(place, start)) else {
                    return false;
                };
                synced = self.synced();
                place
            }
        };
        let permit = match synced.over {
            true => None,
            false => self.activate(processor, &mut synced),
        };
        let Some(permit) = permit else {
            self.tell_to_exit(machine, &mut synced);
            return false;
        };
        self.raise_active(processor + 1);
        self.grant(machine, Grant::Run(permit));
        true
    }

    fn raise_active(&self, count: usize) {
        if self.control_word().active() < count {
            self.control.set_active(count);
        }
    }

    /// Processors from `count` on are to be given up: idle ones at once, running ones by their
    /// machines, between two tasks.
    pub fn shrink(&self, count: usize, work: &impl Work) {
        let synced = self.synced();
        self.control.set_active(count);
        drop(synced);
        // ORDERING: partner of the fence in `go_idle`. Either the processor that goes idle now sees
        // the new number, or the sweep sees it on the stack. (The models fail without it. That
        // AcqRel would not do loom cannot show here, we do not know why; but with one SeqCst fence
        // only, both sides may read what is old.)
        fence(Ordering::SeqCst);
        self.sweep(work);
    }

    /// A running machine gives its processor up, if it still has to, and becomes a spare.
    ///
    /// # Errors
    /// The permit, if the number of processors has been raised again.
    pub fn retire(&self, permit: Permit, machine: usize, work: &impl Work) -> Result<(), Permit> {
        self.retire_and(permit, work, |synced| self.become_spare(machine, synced))
    }

    /// The machine with the permit gives the processor up, if it still has to; `then` says what
    /// becomes of the machine.
    pub(crate) fn retire_and(
        &self,
        permit: Permit,
        work: &impl Work,
        then: impl FnOnce(&mut Synced),
    ) -> Result<(), Permit> {
        if work.evacuate(&permit) {
            // For a moment these tasks were in no queue.
            self.wake_one();
        }
        {
            let mut synced = self.synced();
            if !self.control_word().is_surplus(permit.processor()) {
                return Err(permit);
            }
            then(&mut synced);
            self.deactivate(permit, &mut synced);
        }
        self.announce_quiescence(work);
        Ok(())
    }
}
