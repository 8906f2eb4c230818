//! Blocking calls; and how a thread that is long in a task makes way, which is such a call without
//! the call, and the thread that sees to it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::pool::current::{self, Current};
use crate::pool::processors::Processors;
use crate::protocol::state::grant::{Activity, EXTERNAL_TASK};

impl<T: Send + 'static> Processors<T> {
    /// Runs `call`, which may block: a system call, a lock, a wait for something that another task
    /// does. If the calling thread is running a task of this pool, its processor goes to another
    /// thread meanwhile. At the end it takes the processor that went idle last, its own if nothing
    /// happened meanwhile, or waits until a running one is between two tasks. Blocking.
    ///
    /// Elsewhere, or inside another `blocking`, it just runs `call`. So it does, **with the
    /// processor kept**, when the limit of threads is reached, which is counted in
    /// [`ProcessorStats::blocked_in_place`](crate::ProcessorStats). If the system refuses the other
    /// thread, it is asked again at each task from outside, unless another thread is at work. A
    /// pool that has been told to [stop](Self::stop) is not over before `call` has come back.
    ///
    /// If `call` panics, the panic goes on when the thread has a processor again. A task that
    /// `call` schedules goes to the global queue. All that happens in the task before and after
    /// happens on one thread, in order, though perhaps on two processors.
    ///
    /// Costs about two short locks and two compare-and-swaps when nothing else wants to run, and a
    /// thread's wake-up when something does. Not worth it for less than some ten microseconds.
    #[doc(alias = "block_in_place")]
    pub fn blocking<R>(&self, call: impl FnOnce() -> R) -> R {
        let left = current::with_current(&self.shared, |current| self.leave(current));
        // Lazily: an `Away` that is made comes back.
        let _away = (left == Some(true)).then(|| Away { pool: self });
        call()
    }

    /// Returns whether the machine has given its processor away.
    fn leave(&self, current: &Current<'_>) -> bool {
        let Some(processor) = current.processor() else {
            return false;
        };
        // Counted before it is given away: afterwards these counters are another thread's.
        let counters = self.shared.queues.counters(processor);
        counters.blocking_calls.add(1);
        let has_left = self.part(current);
        if !has_left {
            counters.blocked_in_place.add(1);
        }
        has_left
    }

    /// Gives the processor to another thread, unless there is none to be had, or no place for a
    /// guest: then the calling one keeps it. Returns whether it is given away.
    pub(crate) fn part(&self, current: &Current<'_>) -> bool {
        let (queues, coordinator) = (&self.shared.queues, &self.shared.coordinator);
        let Some(permit) = current.permit.take() else {
            return false;
        };
        let handed_off = match current.machine(coordinator) {
            None => Err(permit),
            Some((machine, _)) => {
                let processor = queues.processor(permit.processor());
                processor.guest.show(0);
                coordinator.machine(machine).begin_blocking();
                queues.local(&permit).fair.clock.pause_in_turn();
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

/// The time from one look to the next. A turn that two looks have seen is long.
const TICK: Duration = Duration::from_millis(1);

/// The longest time that tasks have when a thread has made way for them: about as long as its turn
/// was before, since the thread that looks may itself have to wait for a core.
const TURN_OF_TASKS: Duration = Duration::from_millis(4);

impl<T: Send + 'static> Processors<T> {
    /// Starts one more thread, which looks once a millisecond, as long as something is in the
    /// source or runs long, for threads that have been in the same task since the last look while a
    /// task waits, or a thread that is back from a [`blocking`](Self::blocking) call. Such a thread
    /// is to [yield](Self::yield_if_requested), and the source is
    /// [told](crate::Source::request_yield). The thread ends with the pool. Blocks while it is
    /// started; does nothing if there is one, or the pool is over.
    ///
    /// # Errors
    /// The system refuses the thread. The next call tries again.
    pub fn watch_long_turns(pool: &Arc<Self>) -> io::Result<()> {
        let unparker = &pool.shared.long_turns.unparker;
        Self::start_lookout(pool, "turns", unparker, |pool, parker| {
            let is_quiet = || pool.shared.queues.source.is_empty();
            if !pool.mark_long_turns() && pool.shared.long_turns.try_sleep(is_quiet) {
                parker.park();
            } else {
                parker.park_timeout(TICK);
            }
        })
    }

    /// Marks the processors that are overdue while others wait, and tells the source. Returns
    /// whether anything runs that is long, or may become so.
    fn mark_long_turns(&self) -> bool {
        let long_turns = &self.shared.long_turns;
        let waiting = self.tasks_waiting() + self.shared.coordinator.control_word().waiting();
        let (mut is_any_long, mut is_any_due) = (false, false);
        // Guests come last: the machine that sleeps with a guest's processor runs nothing.
        for look in self.look_at_all() {
            let Some(processor) = look.processor else {
                continue;
            };
            // Somebody else may have looked in between.
            let is_old = look.since.is_some_and(|since| since >= TICK / 2);
            let is_long = is_old && look.activity == Activity::Runs;
            is_any_long |= is_long || look.shown == EXTERNAL_TASK;
            is_any_due |= is_long && waiting > 0;
            long_turns.mark(processor, is_long && waiting > 0);
        }
        long_turns.want(waiting);
        if is_any_due {
            self.shared.queues.source.request_yield();
        }
        is_any_long
    }

    fn tasks_waiting(&self) -> usize {
        let lengths = self.queue_lengths();
        lengths.total() - lengths.idle_priority
    }

    /// Gives the processor to others that wait, and waits for one in line with threads that are
    /// back from a call, if the calling thread is one of the pool's, has a processor, and has been
    /// in the same task for a millisecond or two. Returns `true` if it has. Tasks that wait have
    /// the processor first, for four milliseconds at most. Call it in the middle of long work, with
    /// no lock held that others want. Needs [`watch_long_turns`](Self::watch_long_turns). Costs a
    /// thread-local value and a load if nobody waits; else as a [`blocking`](Self::blocking) call.
    pub fn yield_if_requested(&self) -> bool {
        let give_up = |current: &Current<'_>| self.give_up_turn(current);
        current::with_current(&self.shared, give_up) == Some(true)
    }

    fn give_up_turn(&self, current: &Current<'_>) -> bool {
        let shared = &self.shared;
        let is_due = |processor: &usize| shared.long_turns.is_due(*processor);
        if current.processor().filter(is_due).is_none() {
            return false;
        }
        if self.tasks_waiting() > 0
            && let Some(permit) = current.permit.take()
        {
            let until = (shared.clock)() + TURN_OF_TASKS;
            let local = shared.queues.local(&permit);
            local.fair.turn_of_tasks.set(Some(until));
            shared.coordinator.demand_queued_task(&permit);
            current.permit.set(Some(permit));
        }
        let made_way = self.part(current);
        if made_way {
            self.come_back(current);
            if let Some(processor) = current.processor() {
                shared.queues.counters(processor).made_way.add(1);
            }
        }
        made_way
    }
}
