//! Blocking calls: the machine gives its processor away, so that other tasks go on, and gets one
//! back at the end.

use filch_parker::Parker;
use filch_sync::atomic::{Ordering, fence};

use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::grant::{Activity, Grant};
use crate::protocol::state::permit::Permit;
use crate::protocol::state::synced::Synced;
use crate::protocol::state::work::Work;

impl Coordinator {
    /// Gives the processor of `machine`, which is about to block, to the longest waiter, or makes
    /// it idle with a spare machine, or one without a thread, which is woken at once if there is
    /// work. If a queued task is due, that machine gets the processor at once, waiters or not. A
    /// processor too many is given up, not passed on to a waiter, which would pass it on likewise.
    ///
    /// # Errors
    /// The permit, if there are as many threads as there may be: the machine must block with it.
    pub fn hand_off(&self, permit: Permit, machine: usize, work: &impl Work) -> Result<(), Permit> {
        let mut permit = permit;
        if self.control_word().is_surplus(permit.processor()) {
            match self.retire_and(permit, work, |_| self.begin_call(machine)) {
                Ok(()) => return Ok(()),
                Err(kept) => permit = kept,
            }
        }
        let mut queued_task_is_due = self.is_queued_task_due(&permit);
        if queued_task_is_due && !work.exists() {
            self.forget_returns(&permit);
            queued_task_is_due = false;
        }
        let mut synced = self.synced();
        if !queued_task_is_due && let Some(waiter) = self.next_waiter(&mut synced) {
            drop(synced);
            self.begin_call(machine);
            self.grant_return(waiter, permit);
            return Ok(());
        }
        let spare = synced.spares.pop();
        let Some(substitute) = spare.or_else(|| self.place_within_limit(&mut synced)) else {
            return Err(permit);
        };
        drop(synced);
        self.begin_call(machine);
        if queued_task_is_due {
            // Not by way of the idle stack, from which the next returning machine might take it.
            self.grant(substitute, Grant::Run(permit));
        } else {
            self.go_idle(permit, substitute, false, work);
        }
        Ok(())
    }

    fn begin_call(&self, machine: usize) {
        // ORDERING: Relaxed: released with the processor, which is given away only now: a thread
        // that finds all of them idle finds this too.
        self.away.fetch_add(1, Ordering::Relaxed);
        self.machine(machine).set_activity(Activity::Blocks);
    }

    /// Takes an idle processor for a machine that is back, or blocks until it is given one.
    pub fn regain(&self, machine: usize, parker: &Parker) -> Permit {
        let permit = self.try_regain(machine).unwrap_or_else(|| {
            self.machine(machine).set_activity(Activity::Waits);
            match self.wait(machine, parker) {
                Grant::Run(permit) => permit,
                grant => unreachable!("a machine that waits for a processor is told {grant:?}"),
            }
        });
        self.is_back(machine, permit)
    }

    /// Takes the machine off the count of those that are away.
    pub(crate) fn is_back(&self, machine: usize, permit: Permit) -> Permit {
        self.machine(machine).set_activity(Activity::Runs);
        // ORDERING: Release, partner of the fence in `Idle::is_unchanged`: a thread that sees that
        // no machine is away any more sees that a processor was taken off the stack for it.
        self.away.fetch_sub(1, Ordering::Release);
        permit
    }

    /// Takes an idle processor, or queues the machine for one: then it is granted one to run on.
    pub fn try_regain(&self, machine: usize) -> Option<Permit> {
        // The one that went idle last; if nothing has happened meanwhile, the machine's old one.
        // Not past machines that wait.
        if self.control_word().waiting() == 0
            && let Some((permit, displaced)) = self.take_idle()
        {
            self.become_spare(displaced, &mut self.synced());
            // ORDERING: Relaxed: for people, as long as the machine has the permit.
            self.attached[permit.processor()].store(machine as u32, Ordering::Relaxed);
            self.count_return(&permit);
            return Some(permit);
        }
        let mut synced = self.synced();
        if let Some(permit) = self.take_missing(&mut synced) {
            // ORDERING: Relaxed: as above.
            self.attached[permit.processor()].store(machine as u32, Ordering::Relaxed);
            return Some(permit);
        }
        self.queue(machine, &mut synced);
        None
    }

    /// Queues the machine for a processor, behind others, and serves it if one is idle.
    pub(crate) fn queue(&self, machine: usize, synced: &mut Synced) {
        synced.waiters.push_back(machine);
        self.control.add_waiting();
        // ORDERING: partner of the fence in `Idle::go_idle`. Either a processor that goes idle now
        // sees in the control word that a machine waits, or we see it on the stack.
        fence(Ordering::SeqCst);
        self.serve_waiters(synced);
    }
}
