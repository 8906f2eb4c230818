//! Bound machines: how one gets a processor for a task that is bound to it. Without a task it is as
//! one that is in a blocking call; and once called, as one that is back from it.

use std::io;

use crate::protocol::state::coordinator::{Coordinator, Work};
use crate::protocol::state::grant::Permit;
use crate::protocol::state::synced::{Binding, BoundId, MAX_BOUND};

/// The next step of a bound machine that has no task left.
#[derive(Debug, PartialEq, Eq)]
pub enum AfterBound {
    /// It waits for its grant, and has given its processor away.
    Waits,
    /// There is a task after all.
    Another(Permit),
    /// It is not bound any more, and keeps the processor.
    Unbound(Permit),
}

impl Coordinator {
    /// Adds a bound machine, whose thread is started now, and waits for its first task. `None` if
    /// there may be no more, the pool is over, or all numbers have been used. `open` is told its
    /// name first.
    ///
    /// # Errors
    /// The system's error, if it refuses the thread.
    pub fn bind(&self, open: impl FnOnce(BoundId)) -> io::Result<Option<BoundId>> {
        let mut synced = self.synced();
        let next = synced.bound_so_far.checked_add(1);
        let may_be = synced.bound() < MAX_BOUND && !synced.over;
        let Some(number) = next.filter(|_| may_be) else {
            return Ok(None);
        };
        let Some(machine) = self.place(&mut synced) else {
            synced.refused += 1;
            return Ok(None);
        };
        synced.bound_so_far = number;
        let id = BoundId::new(number);
        open(id);
        synced.bindings.push(Binding {
            id,
            machine,
            waits: true,
            released: false,
        });
        self.machine(machine).expect_thread();
        self.start_thread(machine, synced).map(|()| Some(id))
    }

    /// Returns what the machine is bound as.
    pub(crate) fn bound_as(&self, machine: usize) -> Option<BoundId> {
        let synced = self.synced();
        let at = synced.binding(machine)?;
        Some(synced.bindings[at].id)
    }

    /// Calls a bound machine for a task that was found and queued for it: if it waits for one, it
    /// gets an idle processor, or waits for one. Returns whether it has waited: if not, it is
    /// awake, or in a blocking call, and looks into its queue before it waits again.
    pub fn call_bound(&self, id: BoundId) -> bool {
        let mut synced = self.synced();
        let waiting = |binding: &&mut Binding| binding.id == id && binding.waits;
        let Some(binding) = synced.bindings.iter_mut().find(waiting) else {
            return false;
        };
        binding.waits = false;
        let machine = binding.machine;
        self.queue(machine, &mut synced);
        true
    }

    /// Gives the processor of a bound machine with an empty queue away, and waits for its next
    /// task. `is_done` looks once more, and, if it is told to, closes the queue when nothing is
    /// there.
    pub fn wait_for_bound(
        &self,
        permit: Permit,
        machine: usize,
        is_done: impl FnOnce(bool) -> bool,
        work: &impl Work,
    ) -> AfterBound {
        let mut synced = self.synced();
        let Some(at) = synced.binding(machine) else {
            return AfterBound::Unbound(permit);
        };
        let binding = &mut synced.bindings[at];
        // Under the lock: a thread that queues a task afterwards takes the lock after us, and sees
        // that we wait.
        if !is_done(binding.released) {
            return AfterBound::Another(permit);
        }
        if binding.released {
            synced.take_binding(at);
            // If that is one too many, another one goes that has nothing to do.
            if synced.unbound() > self.limit + synced.leaving
                && let Some(spare) = synced.spares.pop()
            {
                self.tell_to_exit(spare, &mut synced);
            }
            return AfterBound::Unbound(permit);
        }
        binding.waits = true;
        if let Some(waiter) = self.next_waiter(&mut synced) {
            drop(synced);
            self.grant_return(waiter, permit);
            return AfterBound::Waits;
        }
        // Beyond the limit, if need be: bound machines do not count for that.
        let spare = synced.spares.pop();
        let Some(substitute) = spare.or_else(|| self.place(&mut synced)) else {
            unreachable!("there is a place for each bound machine, and for each other one");
        };
        drop(synced);
        self.go_idle(permit, substitute, false, work);
        AfterBound::Waits
    }

    /// Ends the binding: no more tasks will be bound to the machine, which is an ordinary one now
    /// or when it has run those that wait. `close` closes its queue, unless something is there, and
    /// says whether it did.
    pub fn unbind(&self, id: BoundId, close: impl FnOnce() -> bool) {
        let mut synced = self.synced();
        let of_id = |binding: &Binding| binding.id == id;
        let Some(at) = synced.bindings.iter().position(of_id) else {
            // The pool is over, or its thread could not begin.
            return;
        };
        // If it waits and something is queued, the thread that has queued it is about to call it.
        if synced.bindings[at].waits && close() {
            let binding = synced.take_binding(at);
            self.become_spare(binding.machine, &mut synced);
        } else {
            synced.bindings[at].released = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::AfterBound;
    use crate::protocol::state::coordinator::Coordinator;
    use crate::protocol::state::coordinator::Work;
    use crate::protocol::state::grant::{Grant, Permit};
    use crate::protocol::state::synced::{BoundId, MAX_BOUND};

    /// A global queue with a task in it, or none.
    struct Global(Cell<bool>);

    impl Work for Global {
        fn exists_beside(&self, _watched: impl Fn(usize) -> bool) -> bool {
            self.0.get()
        }

        fn evacuate(&self, _permit: &Permit) -> bool {
            false
        }
    }

    /// One processor, on which machine 0 runs.
    fn one_processor(limit: usize, spares: usize, work: &Global) -> (Coordinator, Permit) {
        let coordinator = Coordinator::new(1, 1, limit, spares);
        coordinator.start(1, 1, work).unwrap();
        let (permit, _) = coordinator.take_idle().unwrap();
        (coordinator, permit)
    }

    fn bind(coordinator: &Coordinator) -> Option<BoundId> {
        coordinator.bind(|_| {}).unwrap()
    }

    fn run(coordinator: &Coordinator, machine: usize) -> Permit {
        match coordinator.take_grant(machine) {
            Some(Grant::Run(permit)) => permit,
            grant => panic!("machine {machine} is told {grant:?}"),
        }
    }

    /// A thread is released beyond the limit, and is told to exit. The next one that loses its
    /// processor becomes a spare, though the other has not exited yet. A failure: both exit, and
    /// the blocking call after that has no substitute and keeps the only processor.
    #[test]
    fn one_thread_too_many_is_one_that_exits() {
        let work = Global(Cell::new(false));
        let (coordinator, permit) = one_processor(2, 8, &work);
        let (first, second, bound) = (0, 1, 2);
        assert!(coordinator.hand_off(permit, first, &work).is_ok());
        let id = bind(&coordinator).unwrap();
        work.0.set(true);
        assert!(coordinator.wake_one());
        let Some(Grant::Search(permit)) = coordinator.take_grant(second) else {
            panic!("it has the processor that the call has left");
        };
        work.0.set(false);
        coordinator.stop_searching(&work);
        assert!(coordinator.try_regain(first).is_none(), "the other runs");

        coordinator.unbind(id, || true);
        assert_eq!(coordinator.take_grant(bound), Some(Grant::Exit));
        coordinator.hand_to_waiter(permit, second).unwrap();
        assert_eq!(
            coordinator.take_grant(second),
            None,
            "there are two, and may be"
        );
        let permit = run(&coordinator, first);
        coordinator
            .hand_off(permit, first, &work)
            .expect("there is a spare");
    }

    /// A thread is released while it runs, and is beyond the limit from then on. A failure: nobody
    /// exits for it.
    #[test]
    fn a_spare_exits_for_a_thread_that_is_released_while_it_runs() {
        let work = Global(Cell::new(false));
        let (coordinator, permit) = one_processor(1, 8, &work);
        let (first, bound) = (0, 1);
        let id = bind(&coordinator).unwrap();
        assert!(coordinator.call_bound(id));
        coordinator.hand_to_waiter(permit, first).unwrap();
        let permit = run(&coordinator, bound);
        coordinator.unbind(id, || true);
        let after = coordinator.wait_for_bound(permit, bound, |_| true, &work);
        assert!(matches!(after, AfterBound::Unbound(_)));
        assert_eq!(coordinator.take_grant(first), Some(Grant::Exit));
    }

    /// No spares are kept, and the limit leaves room for one call. A failure: the thread that the
    /// last call has displaced counts until it has exited, and the next call keeps the only
    /// processor.
    #[test]
    fn one_that_exits_makes_room_for_one_that_starts() {
        let work = Global(Cell::new(false));
        let (coordinator, permit) = one_processor(2, 0, &work);
        displaces(&coordinator, permit, &work, 1);
        let (permit, _) = coordinator.take_idle().unwrap();
        coordinator
            .hand_off(permit, 0, &work)
            .expect("a thread that exits is not one too many");
        let (_, place) = coordinator.take_idle().unwrap();
        assert_eq!(place, 2, "its place is not free yet");
    }

    /// Makes a call on machine 0, in which the machine of that place is told to run, and is
    /// displaced; then the processor goes idle with machine 0.
    fn displaces(coordinator: &Coordinator, permit: Permit, work: &Global, place: usize) {
        coordinator.hand_off(permit, 0, work).unwrap();
        work.0.set(true);
        assert!(coordinator.wake_one());
        work.0.set(false);
        let Some(Grant::Search(permit)) = coordinator.take_grant(place) else {
            panic!("it has the processor that the call has left");
        };
        coordinator.stop_searching(work);
        assert!(coordinator.try_regain(0).is_none());
        coordinator.hand_to_waiter(permit, place).unwrap();
        assert_eq!(coordinator.take_grant(place), Some(Grant::Exit));
        let permit = run(coordinator, 0);
        coordinator.go_idle(permit, 0, false, work);
    }

    /// The same again and again, and no thread that has been told to exit gets round to it. A
    /// failure: they pile up beyond the limit, and take the places of threads that tasks are to be
    /// bound to, of which there are none.
    #[test]
    fn those_that_exit_make_room_for_one_per_processor() {
        let work = Global(Cell::new(false));
        let limit = 2;
        let (coordinator, mut permit) = one_processor(limit, 0, &work);
        for place in 1..=limit {
            displaces(&coordinator, permit, &work, place);
            (permit, _) = coordinator.take_idle().unwrap();
        }
        for _ in 0..2 * MAX_BOUND {
            permit = coordinator
                .hand_off(permit, 0, &work)
                .expect_err("it is kept");
        }
        assert_eq!(coordinator.thread_stats().threads, limit + 1);
        for reserved in 0..MAX_BOUND {
            assert!(bind(&coordinator).is_some(), "{reserved} are reserved");
        }
        assert!(bind(&coordinator).is_none(), "enough");
    }
}
