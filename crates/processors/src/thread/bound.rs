//! What a machine does with tasks that are bound to a thread, its own or another.

use crate::pool::runner::Runner;
use crate::protocol::state::binding::BoundId;
use crate::protocol::{AfterBound, Permit};
use crate::thread::machine::{Machine, Vacated};

impl<T: Send + 'static, R: Runner<T>> Machine<'_, T, R> {
    /// Queues a task for the thread that it is bound to, which then may get the processor.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_to_its_thread(
        &self,
        thread: BoundId,
        task: T,
        scratch: &mut R::Scratch,
    ) -> Option<Vacated> {
        match self.shared.bound_tasks.push(thread, task) {
            // The thread was released.
            Err(task) => {
                self.run(task, scratch);
                None
            }
            Ok(()) => self.lend(thread),
        }
    }

    /// Lends the processor to a bound machine, if that waits.
    fn lend(&self, to: BoundId) -> Option<Vacated> {
        let permit = self.current.permit.take()?;
        let counters = &self.shared.queues.processors[permit.processor()].counters;
        // Before it is given away: afterwards these counters are another thread's.
        counters.lent.add(1);
        let coordinator = &self.shared.coordinator;
        match coordinator.lend(permit, self.number, to) {
            Ok(()) => Some(Vacated::default()),
            Err(permit) => {
                counters.lent.take_back(1);
                self.keep(permit);
                None
            }
        }
    }

    fn keep(&self, permit: Permit) {
        self.current.permit.replace(Some(permit));
    }

    /// Runs what is bound to this machine, until there is no more, and returns the processor to its
    /// lender. The permit, if the machine is not bound any more.
    pub(crate) fn work_bound(
        &self,
        permit: Permit,
        id: BoundId,
        scratch: &mut R::Scratch,
    ) -> Option<Permit> {
        let Self { shared, .. } = self;
        let mut permit = permit;
        loop {
            self.keep(permit);
            while let Some(task) = shared.bound_tasks.pop(id) {
                self.run(task, scratch);
                self.give_way();
            }
            let Some(last) = self.current.permit.take() else {
                unreachable!("a machine that runs tasks has a processor");
            };
            let is_done = |close| shared.bound_tasks.is_done(id, close);
            let machine = self.number;
            permit = match shared.coordinator.return_to_lender(last, machine, is_done) {
                AfterBound::Returned => return None,
                AfterBound::Another(permit) => permit,
                AfterBound::Unbound(permit) => {
                    self.bound.set(None);
                    return Some(permit);
                }
            };
        }
    }

    /// Between two tasks: if the processor is to be given up, or others wait for one, the machine
    /// goes away for a moment, as if for a blocking call, and gets in line.
    fn give_way(&self) {
        let coordinator = &self.shared.coordinator;
        let Some(permit) = self.current.permit.take() else {
            return;
        };
        let control = coordinator.control_word();
        if control.waiting() == 0 && !control.is_surplus(permit.processor()) {
            return self.keep(permit);
        }
        let (machine, parker) = (self.number, self.parker);
        let queues = &self.shared.queues;
        let given = if control.is_surplus(permit.processor()) {
            coordinator.retire_for_call(permit, machine, queues)
        } else {
            // Its substitute is its lender: none is started.
            coordinator.hand_off(permit, machine, queues)
        };
        let permit = match given {
            Ok(()) => coordinator.regain(machine, parker),
            Err(permit) => permit,
        };
        self.keep(permit);
    }
}
