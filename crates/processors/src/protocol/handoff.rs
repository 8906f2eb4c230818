//! Blocking calls: the machine gives its processor away, so that other tasks go on, and gets one
//! back at the end, or waits in line for it, and queued tasks do not starve behind those that wait.

use filch_parker::Parker;
use filch_sync::atomic::{Ordering, fence};

use crate::protocol::state::coordinator::{Coordinator, Work};
use crate::protocol::state::grant::{Activity, Grant, Permit};
use crate::protocol::state::synced::Synced;

impl Coordinator {
    /// Gives the processor of `machine`, which is about to block, to the longest waiter, or makes
    /// it idle with a spare machine, or one without a thread. If a queued task is due, that machine
    /// gets it at once, waiters or not. A processor too many is given up.
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
        let Some(substitute) = self.substitute(&mut synced) else {
            synced.refused += 1;
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
            self.attach(permit.processor(), machine);
            self.count_return(&permit);
            return Some(permit);
        }
        let mut synced = self.synced();
        if let Some(permit) = self.take_missing(&mut synced) {
            self.attach(permit.processor(), machine);
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

/// The largest number of times in a row that a processor goes to machines back from blocking calls,
/// before a queued task is due.
const MAX_RETURNS: u32 = 16;

impl Coordinator {
    /// Takes the longest waiter off the list.
    pub(crate) fn next_waiter(&self, synced: &mut Synced) -> Option<usize> {
        let waiter = synced.waiters.pop_front()?;
        self.control.remove_waiting();
        Some(waiter)
    }

    /// Gives idle processors to waiters, as long as there are both.
    pub(crate) fn serve_waiters(&self, synced: &mut Synced) {
        while !synced.waiters.is_empty() {
            let Some((permit, machine)) = self.take_idle() else {
                return;
            };
            if let Some(waiter) = self.next_waiter(synced) {
                self.become_spare(machine, synced);
                self.grant_return(waiter, permit);
            }
        }
    }

    /// Gives the processor, between two tasks, to the machine that has waited longest for one;
    /// `machine` becomes a spare.
    ///
    /// # Errors
    /// The permit, if no machine waits any more.
    pub fn hand_to_waiter(&self, permit: Permit, machine: usize) -> Result<(), Permit> {
        let mut synced = self.synced();
        let Some(waiter) = self.next_waiter(&mut synced) else {
            return Err(permit);
        };
        self.become_spare(machine, &mut synced);
        drop(synced);
        self.grant_return(waiter, permit);
        Ok(())
    }

    /// Gives the processor to a machine that is back from a blocking call.
    pub(crate) fn grant_return(&self, waiter: usize, permit: Permit) {
        self.count_return(&permit);
        self.grant(waiter, Grant::Run(permit));
    }

    pub(crate) fn count_return(&self, permit: &Permit) {
        let returns = &self.returns[permit.processor()];
        // ORDERING: Relaxed: written by the machine with the permit alone, and handed on with the
        // processor.
        let count = returns.load(Ordering::Relaxed).saturating_add(1);
        returns.store(count, Ordering::Relaxed);
    }

    /// Returns whether the processor has gone to returning machines so often that a queued task is
    /// due. The machine with the permit asks.
    pub(crate) fn is_queued_task_due(&self, permit: &Permit) -> bool {
        // ORDERING: Relaxed: as in `count_return`.
        self.returns[permit.processor()].load(Ordering::Relaxed) >= MAX_RETURNS
    }

    /// Demands that a queued task comes next on the processor.
    pub fn demand_queued_task(&self, permit: &Permit) {
        // ORDERING: Relaxed: as in `count_return`.
        self.returns[permit.processor()].store(MAX_RETURNS, Ordering::Relaxed);
    }

    /// Resets the count, as a queued task runs now, or there is none.
    pub(crate) fn forget_returns(&self, permit: &Permit) {
        // ORDERING: Relaxed: as in `count_return`.
        self.returns[permit.processor()].store(0, Ordering::Relaxed);
    }
}
