//! Guests: threads from outside that run a task on a processor that is idle, in the name of the
//! machine that sleeps with it. That one, the lender, goes on sleeping.
//!
//! Giving the processor [back](Coordinator::give_back) is what a machine does that goes idle: all
//! that a processor owes to others when it has nothing to do, the second look included, is done
//! there. A guest needs a place of its own only where it blocks.

use filch_parker::Parker;

use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::grant::Activity;
use crate::protocol::state::permit::Permit;
use crate::protocol::state::synced::MAX_BOUND;

impl Coordinator {
    /// Takes an idle processor for a guest: its permit, and the lender, which goes on waiting for
    /// it. None is idle, or the pool is just ending, of which the guest would know nothing.
    pub fn borrow_idle(&self) -> Option<(Permit, usize)> {
        self.idle.borrow().map(|processor| self.popped(processor))
    }

    /// Registers a guest that is about to block: it gets a place of its own, and the parker of
    /// that, and is a machine from now on, which has taken the processor from its lender: that is a
    /// spare now. `None` if there are as many guests and bound machines as there may be.
    pub fn register(&self, lender: usize) -> Option<(usize, Parker)> {
        let mut synced = self.synced();
        if synced.bound() == MAX_BOUND {
            return None;
        }
        let place = self.place(&mut synced)?;
        self.machine(place).expect_thread();
        synced.threads += 1;
        synced.guests += 1;
        let parker = synced.parkers[place].take();
        // However many there are: the guest is about to need one.
        match self.machine(lender).has_thread() {
            true => synced.spares.push(lender),
            false => synced.vacant.push(lender),
        }
        drop(synced);
        self.machine(place).set_activity(Activity::Runs);
        Some((place, parker?))
    }

    /// Unregisters a guest, which has a processor. Returns a machine that waits to get the
    /// processor back: a spare, or the guest's own place, without a thread.
    pub fn unregister(&self, machine: usize, parker: Parker) -> usize {
        self.machine(machine).task.show(0);
        self.machine(machine).set_activity(Activity::Gone);
        self.machine(machine).lose_thread();
        let mut synced = self.synced();
        synced.parkers[machine] = Some(parker);
        synced.threads -= 1;
        synced.guests -= 1;
        let heir = synced.spares.pop();
        if heir.is_some() {
            synced.vacant.push(machine);
        }
        heir.unwrap_or(machine)
    }
}
