//! Machines that are kept for later blocking calls and resizes, and those that are not.

use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::grant::Grant;
use crate::protocol::state::synced::Synced;

impl Coordinator {
    /// Makes a spare of a machine that has lost its processor, or given it up between two tasks. It
    /// exits instead if there are enough spares, or if there is one machine too many since another
    /// one ceased to be bound; but the last thread stays. A machine that has been told to exit is
    /// not one too many: it may take its time, and if two exited for it, a call at the limit would
    /// find no spare.
    pub(crate) fn become_spare(&self, machine: usize, synced: &mut Synced) {
        let is_enough = synced.spares.len() >= synced.max_spares
            || synced.unbound() > self.limit + synced.leaving;
        let is_last = synced.threads == synced.leaving + synced.bound() + 1;
        if !self.machine(machine).has_thread() || is_enough && !is_last {
            self.tell_to_exit(machine, synced);
        } else {
            synced.spares.push(machine);
        }
    }

    /// Tells a machine that is not needed to exit. If it has no thread, that is all.
    pub(crate) fn tell_to_exit(&self, machine: usize, synced: &mut Synced) {
        match self.machine(machine).set_grant(Grant::Exit) {
            true => synced.leaving += 1,
            false => synced.vacant.push(machine),
        }
    }
}
