//! Machines that have given their processors away in the middle of something long, so that others
//! have their turn: they want one back when nobody else does, or when they have waited for long.

use filch_sync::atomic::{Ordering, fence};

use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::permit::Permit;
use crate::protocol::state::synced::Synced;

impl Coordinator {
    /// Makes a machine rest that has [given its processor away](Self::hand_off): from now on it
    /// gets a processor that has nothing else to do, if there is one, or when there is one.
    pub fn begin_to_rest(&self, machine: usize) {
        let mut synced = self.synced();
        synced.resting.push_back(machine);
        // ORDERING: Relaxed: by the fence.
        self.resting.fetch_add(1, Ordering::Relaxed);
        // ORDERING: SeqCst, partner of the fence in `Idle::go_idle`: either a processor that goes
        // idle now sees that a machine rests, or we see it on the stack.
        fence(Ordering::SeqCst);
        self.serve_resting(&mut synced);
    }

    /// Gives idle processors to machines that rest, as long as there are both.
    pub(crate) fn serve_resting(&self, synced: &mut Synced) {
        while !synced.resting.is_empty() {
            let Some((permit, machine)) = self.take_idle() else {
                return;
            };
            if let Some(rested) = self.next_resting(synced) {
                self.become_spare(machine, synced);
                self.grant_return(rested, permit);
            }
        }
    }

    /// Takes the machine off the list that has rested longest.
    fn next_resting(&self, synced: &mut Synced) -> Option<usize> {
        let rested = synced.resting.pop_front()?;
        // ORDERING: Relaxed: under the lock; one that reads an old value looks in vain.
        self.resting.fetch_sub(1, Ordering::Relaxed);
        Some(rested)
    }

    /// Ends the rest of a machine, which is to [queue](Self::regain) for any processor. `false`: it
    /// has been given one already, and is told, or will be.
    pub fn stop_resting(&self, machine: usize) -> bool {
        let mut synced = self.synced();
        let at = synced
            .resting
            .iter()
            .position(|&resting| resting == machine);
        let rests = at.and_then(|at| synced.resting.remove(at)).is_some();
        if rests {
            // ORDERING: Relaxed: as in `next_resting`.
            self.resting.fetch_sub(1, Ordering::Relaxed);
        }
        rests
    }

    /// Returns whether a machine rests.
    #[inline]
    pub fn has_resting(&self) -> bool {
        // ORDERING: Relaxed: a processor that goes idle has passed a fence, whose partner is in
        // `begin_to_rest`; for others it is a hint.
        self.resting.load(Ordering::Relaxed) > 0
    }

    /// Gives the processor, for which there is no task, to the machine that has rested longest;
    /// `machine` becomes a spare.
    ///
    /// # Errors
    /// The permit, if no machine rests.
    pub fn hand_to_resting(&self, permit: Permit, machine: usize) -> Result<(), Permit> {
        let mut synced = self.synced();
        let Some(rested) = self.next_resting(&mut synced) else {
            return Err(permit);
        };
        self.become_spare(machine, &mut synced);
        drop(synced);
        self.grant_return(rested, permit);
        Ok(())
    }
}
