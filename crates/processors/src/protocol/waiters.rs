//! Machines that are back from a blocking call and wait for a processor, and the tasks that must
//! not starve behind them.

use filch_sync::atomic::Ordering;

use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::grant::Grant;
use crate::protocol::state::permit::Permit;
use crate::protocol::state::synced::Synced;

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
