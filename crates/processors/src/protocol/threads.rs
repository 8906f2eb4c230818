//! How many threads there are, and when another one is started.
//!
//! `start` creates the initial threads. Later ones come from three places: a machine that has a
//! processor and is about to block while there is no spare; a resize; and a reservation. One thread
//! is started at a time, and at most one per processor is wanted at a time, however many calls
//! block: so no timer is needed to prevent a storm. At the limit a blocking call keeps its
//! processor. Bound threads have a limit of their own, and one thread per processor that has been
//! told to exit may come on top of it.

use filch_parker::Parker;
use filch_sync::atomic::Ordering;

use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::grant::{Activity, MachineShared};
use crate::protocol::state::synced::Synced;

/// The threads of a pool, as counted at one moment.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadStats {
    /// Threads there are, those included that are expected.
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
    /// Times a thread was wanted for a blocking call or a resize, and could not be had.
    pub refused: u64,
}

impl Coordinator {
    /// A place for one more machine that no tasks are bound to, if the limit permits one. Machines
    /// that have been told to exit do not count, or a call at the limit would keep its processor
    /// because of a thread that is as good as gone. But only one of them per processor: they may
    /// take their time.
    pub(crate) fn place_within_limit(&self, synced: &mut Synced) -> Option<usize> {
        let on_top = synced.leaving.min(self.attached.len());
        if synced.unbound() >= self.limit + on_top {
            synced.refused += 1;
            return None;
        }
        self.place(synced)
    }

    /// A place for one more machine.
    pub(crate) fn place(&self, synced: &mut Synced) -> Option<usize> {
        let place = synced.vacant.pop().or_else(|| {
            let place = synced.parkers.len();
            let parker = Parker::new();
            let machine = self.machines.get(place)?;
            machine.set(MachineShared::new(&parker)).ok()?;
            synced.parkers.push(Some(parker));
            Some(place)
        });
        match place {
            None => synced.refused += 1,
            Some(_) => synced.threads += 1,
        }
        place
    }

    /// Starts a thread for a place that was vacant. If that fails, the place is vacant again.
    pub(crate) fn try_start(&self, place: usize, start: impl FnOnce(usize) -> bool) -> bool {
        let started = start(place);
        self.record_start(place, started, &mut self.synced());
        started
    }

    /// The thread for that place was started, or could not be had.
    pub(crate) fn record_start(&self, place: usize, started: bool, synced: &mut Synced) {
        if started {
            synced.started += 1;
        } else {
            synced.refused += 1;
            synced.threads -= 1;
            synced.vacant.push(place);
        }
    }

    /// The thread of that place has begun: its parker.
    pub fn enter(&self, machine: usize) -> Parker {
        self.machine(machine).set_activity(Activity::Parked);
        match self.synced().parkers[machine].take() {
            Some(parker) => parker,
            None => unreachable!("a place has one thread"),
        }
    }

    /// The thread of that place cannot run anything, and no other thread knows of it, but the one
    /// that is starting it, and will [record](Self::record_start) that.
    pub(crate) fn abandon(&self, machine: usize, parker: Parker) {
        self.machine(machine).set_activity(Activity::Gone);
        self.synced().parkers[machine] = Some(parker);
    }

    /// The thread has been told to exit, and does. It must ask [`is_deserted`](Self::is_deserted)
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
            bound: synced
                .bindings
                .iter()
                .filter(|binding| binding.id.is_some())
                .count(),
            limit: self.limit,
            started: synced.started,
            refused: synced.refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Activity, Coordinator};

    #[test]
    fn a_place_tells_whether_its_thread_is_there() {
        let coordinator = Coordinator::new(1, 1, 1, 0);
        let start = |place| {
            let activity = || coordinator.machine(place).activity().0;
            assert!(matches!(activity(), Activity::Gone));
            let parker = coordinator.enter(place);
            assert!(matches!(activity(), Activity::Parked));
            coordinator.abandon(place, parker);
            assert!(matches!(activity(), Activity::Gone));
            false
        };
        assert!(coordinator.bind(start).is_none());
    }
}
