//! Machines that are kept for later blocking calls and resizes, and those that are not.

use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::grant::Grant;
use crate::protocol::state::synced::Synced;

impl Coordinator {
    /// A machine has lost its processor, or given it up between two tasks: it becomes a spare. It
    /// exits instead if there are enough spares, or if there is one machine too many since another
    /// one ceased to be bound. A machine that has been told to exit is not one too many: it may
    /// take its time, and if two exited for it, a call at the limit would find no spare.
    pub(crate) fn become_spare(&self, machine: usize, synced: &mut Synced) {
        if synced.spares.len() >= synced.max_spares
            || synced.unbound() > self.limit + synced.leaving
        {
            self.tell_to_exit(machine, synced);
        } else {
            synced.spares.push(machine);
        }
    }

    pub(crate) fn tell_to_exit(&self, machine: usize, synced: &mut Synced) {
        synced.leaving += 1;
        self.grant(machine, Grant::Exit);
    }
}
