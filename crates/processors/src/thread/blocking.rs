//! Blocking calls.

use crate::pool::current::{self, Current};
use crate::pool::processors::Processors;
use crate::protocol::Permit;

impl<T: Send + 'static> Processors<T> {
    /// Runs `call`, which may block: a system call, a lock, a wait for something that another task
    /// does. If the calling thread is running a task of this pool, then other tasks go on
    /// meanwhile: the thread gives its processor to another thread. At the end it takes the
    /// processor that went idle last, its own if nothing happened meanwhile, or waits until a
    /// running one is between two tasks and gives its own away. Blocking.
    ///
    /// Elsewhere, or inside another `blocking`, it just runs `call`. So it does, **with the
    /// processor kept**, when the limit of threads is reached or the system refuses a thread: the
    /// others must do without. That is counted in
    /// [`ProcessorStats::blocked_in_place`](crate::ProcessorStats). A pool that has been told to
    /// [stop](Self::stop) is not over before `call` has come back, which may still wait for another
    /// task.
    ///
    /// If `call` panics, the panic goes on when the thread has a processor again.
    ///
    /// A task that `call` schedules goes to the global queue. All that happens in the task before
    /// and after happens on one thread, in order, though perhaps on two processors.
    ///
    /// Costs about two short locks and two compare-and-swaps when nothing else wants to run, and a
    /// thread's wake-up when something does; the first calls start threads. Not worth it for what
    /// takes less than some ten microseconds.
    pub fn blocking<R>(&self, call: impl FnOnce() -> R) -> R {
        let left = current::with_current(&self.shared, |current| self.leave(current));
        // Lazily: an `Away` that is made comes back.
        let _away = (left == Some(true)).then(|| Away { pool: self });
        call()
    }

    /// Returns whether the machine has given its processor away.
    fn leave(&self, current: &Current<'_>) -> bool {
        let Some(permit) = current.permit.take() else {
            return false;
        };
        // Counted before it is given away: afterwards these counters are another thread's.
        let counters = &self.shared.queues.processors[permit.processor()].counters;
        counters.blocking_calls.add(1);
        let has_left = self.part_with(permit, current);
        if !has_left {
            counters.blocked_in_place.add(1);
        }
        has_left
    }

    /// Gives the processor to another thread, unless there is none to be had, or no place for a
    /// guest: then the calling one keeps it. Returns whether it is given away.
    pub(crate) fn part_with(&self, permit: Permit, current: &Current<'_>) -> bool {
        let (queues, coordinator) = (&self.shared.queues, &self.shared.coordinator);
        let handed_off = match current.machine(coordinator) {
            None => Err(permit),
            Some((machine, _)) => {
                let processor = &queues.processors[permit.processor()];
                processor.guest.show(0);
                coordinator.machine(machine).begin_blocking();
                queues.locals.get(&permit).fair.clock.pause_in_turn();
                if coordinator.control_word().is_surplus(permit.processor()) {
                    // Before it is given up: afterwards the counters may be another thread's.
                    processor.counters.retired.add(1);
                }
                coordinator.hand_off(permit, machine, queues)
            }
        };
        match handed_off {
            Ok(()) => true,
            Err(permit) => {
                current.permit.replace(Some(permit));
                false
            }
        }
    }

    /// Takes a processor again, for a thread that has given its own away.
    pub(crate) fn come_back(&self, current: &Current<'_>) {
        let coordinator = &self.shared.coordinator;
        let Some((machine, parker)) = current.machine(coordinator) else {
            unreachable!("a thread that has left has a place");
        };
        let permit = coordinator.regain(machine, parker);
        current.permit.replace(Some(permit));
    }
}

/// A blocking call under way; at its end, also by unwinding, the thread has a processor again.
struct Away<'pool, T: Send + 'static> {
    pool: &'pool Processors<T>,
}

impl<T: Send + 'static> Drop for Away<'_, T> {
    fn drop(&mut self) {
        current::with_current(&self.pool.shared, |current| self.pool.come_back(current));
    }
}
