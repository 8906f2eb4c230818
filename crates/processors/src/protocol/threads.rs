//! The number of machines, and the coming and going of threads and guests. At most one place per
//! processor is made at a time, however many calls block, so no timer is needed against a storm.

use filch_parker::Parker;
use filch_sync::atomic::Ordering;

use crate::protocol::state::coordinator::{Coordinator, ROW};
use crate::protocol::state::grant::{Activity, Grant, MachineShared, Permit};
use crate::protocol::state::synced::{MAX_BOUND, Synced};

/// The threads of a pool, as counted at one moment.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadStats {
    /// Threads there are, those included that are expected. They come when they are needed.
    pub threads: usize,
    /// Of those, the spare ones: they have no processor and wait to be needed.
    pub spares: usize,
    /// Of those, the ones that are in a blocking call and have given their processor away.
    pub blocking: usize,
    /// Of those, the ones that are back from a blocking call and wait for a processor.
    pub waiting: usize,
    /// Of those, the ones that tasks are bound to.
    pub bound: usize,
    /// The largest number of threads at a time, without bound ones and those that have been told to
    /// exit.
    pub limit: usize,
    /// Threads started so far.
    pub started: u64,
    /// Times a thread was wanted, and could not be had: because of the limit, because the system
    /// refused it, or because its scratch panicked.
    pub refused: u64,
}

impl Coordinator {
    /// Makes a place for one more machine that no tasks are bound to, if the limit permits one.
    /// Machines that have been told to exit do not count, or a call at the limit would keep its
    /// processor because of a thread that is as good as gone. But only one of them per processor:
    /// they may take their time.
    pub(crate) fn place_within_limit(&self, synced: &mut Synced) -> Option<usize> {
        let on_top = synced.leaving.min(self.attached.len());
        if synced.unbound() >= self.limit + on_top {
            return None;
        }
        self.place(synced)
    }

    /// A machine that takes over from another one, or for a processor that had none: a spare, or a
    /// place within the limit.
    pub(crate) fn substitute(&self, synced: &mut Synced) -> Option<usize> {
        let spare = synced.spares.pop();
        spare.or_else(|| self.place_within_limit(synced))
    }

    /// A place for one more machine, which has no thread.
    pub(crate) fn place(&self, synced: &mut Synced) -> Option<usize> {
        if let Some(place) = synced.vacant.pop() {
            self.machine(place).lose_thread();
            return Some(place);
        }
        let place = synced.parkers.len();
        let row = self.machines.get(place / ROW)?.get_or_init(Box::default);
        let parker = Parker::new();
        let machine = Box::new(MachineShared::new(&parker));
        row[place % ROW].set(machine).ok()?;
        synced.parkers.push(Some(parker));
        Some(place)
    }

    /// Returns the parker of that place to its thread, which has begun.
    pub fn enter(&self, machine: usize) -> Parker {
        self.machine(machine).set_activity(Activity::Parked);
        match self.synced().parkers[machine].take() {
            Some(parker) => parker,
            None => unreachable!("a place has one thread"),
        }
    }

    /// Ends a thread that has been told to exit. It must ask [`is_deserted`](Self::is_deserted)
    /// afterwards.
    pub fn exit(&self, machine: usize, parker: Parker) {
        self.machine(machine).set_activity(Activity::Gone);
        let mut synced = self.synced();
        synced.parkers[machine] = Some(parker);
        synced.vacant.push(machine);
        synced.threads -= 1;
        synced.leaving -= 1;
    }

    pub(crate) fn thread_stats(&self) -> ThreadStats {
        let synced = self.synced();
        ThreadStats {
            threads: synced.threads,
            spares: synced.spares.len(),
            // ORDERING: Relaxed: a statistic.
            blocking: self.away.load(Ordering::Relaxed),
            waiting: synced.waiters.len(),
            bound: synced.bindings.len(),
            limit: self.limit,
            started: synced.started,
            refused: synced.refused,
        }
    }

    /// Makes a spare of a machine that has lost its processor, or given it up between two tasks. It
    /// exits instead if there are enough spares, or one machine too many since another one ceased
    /// to be bound; but the last thread stays. One that has been told to exit is not one too many:
    /// if two exited for it, a call at the limit would find no spare.
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

/// Guests: threads from outside that run a task on an idle processor, in the name of the machine
/// that sleeps with it, their lender. To [give it back](Coordinator::give_back) is what a machine
/// does that goes idle; a guest needs a place of its own only where it blocks.
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

#[cfg(test)]
mod tests {
    use super::{Activity, Coordinator};

    #[test]
    fn a_place_tells_whether_its_thread_is_there() {
        let coordinator = Coordinator::new(1, 1, 1, 0);
        let place = coordinator.place(&mut coordinator.synced()).unwrap();
        let machine = coordinator.machine(place);
        assert!(!machine.has_thread() && machine.activity().0 == Activity::Gone);
        machine.expect_thread();
        coordinator
            .start_thread(place, coordinator.synced())
            .unwrap();
        assert!(machine.has_thread() && machine.activity().0 == Activity::Gone);
        let parker = coordinator.enter(place);
        assert_eq!(machine.activity().0, Activity::Parked);
        coordinator.tell_to_exit(place, &mut coordinator.synced());
        coordinator.exit(place, parker);
        assert_eq!(machine.activity().0, Activity::Gone);
        assert_eq!(coordinator.place(&mut coordinator.synced()), Some(place));
        assert!(!machine.has_thread(), "another one's is to come");
    }
}
