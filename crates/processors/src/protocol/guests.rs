//! Guests: threads from outside that run a task on a processor that is idle, in the name of the
//! machine that sleeps with it. That one, the lender, goes on sleeping.
//!
//! Giving the processor [back](Coordinator::give_back) is what a machine does that goes idle: all
//! that a processor owes to others when it has nothing to do, the second look included, is done
//! there. A guest needs a place of its own only where it blocks.

use filch_parker::Parker;

use crate::protocol::state::binding::{Binding, MAX_BOUND};
use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::grant::Activity;
use crate::protocol::state::permit::Permit;

impl Coordinator {
    /// Takes an idle processor for a guest: its permit, and the lender, which goes on waiting for
    /// it. None is idle, or the pool is just ending, of which the guest would know nothing.
    pub fn borrow_idle(&self) -> Option<(Permit, usize)> {
        self.idle.borrow().map(|processor| self.popped(processor))
    }

    /// A guest is about to block. From now on it is a machine that has borrowed its processor, as
    /// a bound one has, though no tasks are bound to it: so the lender runs on the processor
    /// meanwhile, and whichever machine loses one to the guest afterwards is its next lender. Its
    /// place, and the parker of that; none if there are as many such machines as there may be.
    pub fn enlist(&self, lender: usize) -> Option<(usize, Parker)> {
        let mut synced = self.synced();
        if synced.bound == MAX_BOUND {
            return None;
        }
        let place = self.place(&mut synced)?;
        self.machine(place).expect_thread();
        synced.threads += 1;
        synced.bound += 1;
        synced.bindings.push(Binding {
            id: None,
            machine: place,
            waits: false,
            lender: Some(lender),
            released: false,
        });
        let parker = synced.parkers[place].take();
        drop(synced);
        self.machine(place).set_activity(Activity::Runs);
        Some((place, parker?))
    }

    /// The guest, which has a processor, has no place any more. The lender of that processor.
    pub fn dismiss(&self, machine: usize, parker: Parker) -> usize {
        self.machine(machine).task.show(0);
        self.machine(machine).set_activity(Activity::Gone);
        let mut synced = self.synced();
        let of_machine = |binding: &Binding| binding.machine == machine;
        let binding = synced.bindings.iter().position(of_machine);
        let lender = binding.and_then(|at| synced.take_binding(at).lender);
        synced.parkers[machine] = Some(parker);
        synced.vacant.push(machine);
        synced.threads -= 1;
        match lender {
            Some(lender) => lender,
            None => unreachable!("a processor on which a guest runs has a lender"),
        }
    }
}
