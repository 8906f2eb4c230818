//! Blocking calls.

use filch_parker::Parker;

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
        let away = current::with_current(&self.shared, |current| self.leave(current));
        // Lazily: an `Away` that is made comes back.
        let _away = (away == Some(true)).then(|| Away { pool: self });
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
        match self.part_with(permit, current) {
            Ok(_) => true,
            Err(permit) => {
                counters.blocked_in_place.add(1);
                current.permit.replace(Some(permit));
                false
            }
        }
    }

    /// Gives the processor to another thread. The calling one's machine, and its parker.
    ///
    /// # Errors
    /// The permit, if there is no thread to be had, or no place for a guest.
    pub(crate) fn part_with<'thread>(
        &self,
        permit: Permit,
        current: &'thread Current<'_>,
    ) -> Result<(usize, &'thread Parker), Permit> {
        let coordinator = &self.shared.coordinator;
        let Some((machine, parker)) = current.machine(coordinator) else {
            return Err(permit);
        };
        let queues = &self.shared.queues;
        let processor = &queues.processors[permit.processor()];
        processor.guest.show(0);
        coordinator.machine(machine).begin_blocking();
        queues.locals.get(&permit).fair.clock.pause_in_turn();
        if coordinator.control_word().is_surplus(permit.processor()) {
            // Before it is given up: afterwards the counters may be another thread's.
            processor.counters.retired.add(1);
        }
        coordinator.hand_off(permit, machine, queues)?;
        Ok((machine, parker))
    }
}

/// A blocking call under way; at its end, also by unwinding, the thread has a processor again.
struct Away<'pool, T: Send + 'static> {
    pool: &'pool Processors<T>,
}

impl<T: Send + 'static> Drop for Away<'_, T> {
    fn drop(&mut self) {
        let shared = &self.pool.shared;
        current::with_current(shared, |current| {
            let Some((machine, parker)) = current.machine(&shared.coordinator) else {
                unreachable!("a thread that has left has a place");
            };
            let permit = shared.coordinator.regain(machine, parker);
            current.permit.replace(Some(permit));
        });
    }
}
