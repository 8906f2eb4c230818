//! Another number of processors, while tasks run. The world is not stopped: a surplus processor is
//! given up by the machine with its permit, and no other one pushes into its deque.

use filch_sync::atomic::{Ordering, fence};

use crate::protocol::state::coordinator::{Coordinator, Work};
use crate::protocol::state::grant::Permit;
use crate::protocol::state::synced::Synced;

impl Coordinator {
    /// Raises the number to `processor + 1`, from one less. An inactive processor goes on the idle
    /// stack, with a spare machine or a new one. Returns whether there was one, and the pool is not
    /// over.
    pub fn grow(&self, processor: usize, work: &impl Work) -> bool {
        let mut synced = self.synced();
        if synced.over {
            return false;
        }
        if synced.inactive[processor].is_none() {
            // Its machine has not noticed yet that it was to give it up; now it need not.
            self.raise_active(processor + 1);
            return true;
        }
        let Some(machine) = self.substitute(&mut synced) else {
            synced.refused += 1;
            return false;
        };
        let Some(permit) = self.activate(processor, &mut synced) else {
            unreachable!("it is inactive, and we have the lock");
        };
        self.raise_active(processor + 1);
        drop(synced);
        self.go_idle(permit, machine, false, work);
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
        // AcqRel would not do loom cannot show here; the kernel `shrink` shows it.)
        fence(Ordering::SeqCst);
        self.sweep(work);
    }

    /// Gives a running machine's processor up, if it still has to; the machine becomes a spare.
    ///
    /// # Errors
    /// The permit, if the number of processors has been raised again.
    pub fn retire(&self, permit: Permit, machine: usize, work: &impl Work) -> Result<(), Permit> {
        self.retire_and(permit, work, |synced| self.become_spare(machine, synced))
    }

    /// Gives up the processor of the machine with the permit, if it still has to; `then` says what
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
        self.restore_missing(work);
        self.announce_quiescence(work);
        Ok(())
    }

    /// Makes an inactive processor one that runs.
    pub(crate) fn activate(&self, processor: usize, synced: &mut Synced) -> Option<Permit> {
        let permit = synced.inactive[processor].take()?;
        // ORDERING: Relaxed: released with the change of the idle word, and by the first time that
        // it goes idle.
        self.activated.fetch_add(1, Ordering::Relaxed);
        // Before anybody can run on it: it is awake without having been popped.
        self.idle.invalidate();
        Some(permit)
    }

    /// Makes a processor inactive. Its deque must be empty.
    pub(crate) fn deactivate(&self, permit: Permit, synced: &mut Synced) {
        let processor = permit.processor();
        synced.inactive[processor] = Some(permit);
        // ORDERING: Release, partner of the Acquire in `quiescent_snapshot`: a thread that does not
        // count it any more sees what it left in the global queue, and that its machine went away.
        self.activated.fetch_sub(1, Ordering::Release);
    }
}
