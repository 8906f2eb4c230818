//! A machine's handling of tasks that are bound to a thread, its own or another.

use crate::pool::runner::Runner;
use crate::protocol::state::synced::BoundId;
use crate::protocol::{AfterBound, Permit};
use crate::thread::machine::Machine;

impl<T: Send + 'static, R: Runner<T>> Machine<'_, T, R> {
    /// Queues a task for the thread that it is bound to, which comes for it: between two tasks this
    /// one hands its processor over.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_to_its_thread(&self, thread: BoundId, task: T, scratch: &mut R::Scratch) {
        match self.shared.bound_tasks.push(thread, task) {
            // The thread was released.
            Err(task) => self.run(task, scratch),
            Ok(()) => {
                if self.shared.coordinator.call_bound(thread) {
                    self.count(|counters| &counters.sent_to_bound);
                }
            }
        }
    }

    /// Runs what is bound to this machine, until there is no more, and gives the processor away.
    /// The permit, if the machine is not bound any more.
    pub(crate) fn work_bound(
        &self,
        permit: Permit,
        id: BoundId,
        scratch: &mut R::Scratch,
    ) -> Option<Permit> {
        let Self { shared, .. } = self;
        let mut permit = permit;
        loop {
            self.current.permit.replace(Some(permit));
            while let Some(task) = shared.bound_tasks.pop(id) {
                self.run(task, scratch);
                self.give_way();
            }
            let Some(last) = self.current.permit.take() else {
                unreachable!("a machine that runs tasks has a processor");
            };
            let is_done = |close| shared.bound_tasks.is_done(id, close);
            let coordinator = &shared.coordinator;
            permit = match coordinator.wait_for_bound(last, self.number, is_done, &shared.queues) {
                AfterBound::Waits => return None,
                AfterBound::Another(permit) => permit,
                AfterBound::Unbound(permit) => {
                    self.bound.set(None);
                    return Some(permit);
                }
            };
        }
    }

    /// Lets the machine go away for a moment between two tasks, as if for a blocking call, and get
    /// in line, if the processor is to be given up, or others wait for one.
    fn give_way(&self) {
        let coordinator = &self.shared.coordinator;
        let Some(permit) = self.current.permit.take() else {
            return;
        };
        let machine = self.number;
        let control = coordinator.control_word();
        let given = match control.waiting() > 0 || control.is_surplus(permit.processor()) {
            true => coordinator.hand_off(permit, machine, &self.shared.queues),
            false => Err(permit),
        };
        let permit = match given {
            Ok(()) => coordinator.regain(machine, self.parker),
            Err(permit) => permit,
        };
        self.current.permit.replace(Some(permit));
    }
}
