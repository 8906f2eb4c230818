//! A guest: a thread from outside that waits for a task, and runs it, and what that waits for, on a
//! processor that was idle. The argument is in [`architecture`](crate::architecture).

use std::cell::OnceCell;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use filch_sync::lock;
use filch_sync::panic::discard;

use crate::pool::current::{self, Current};
use crate::pool::processors::Processors;
use crate::pool::runner::{Awaited, CallerRuns, Runner};
use crate::protocol::state::grant::EXTERNAL_TASK;
use crate::queues::task_queues::Shared;

/// The longest time that a guest goes on with a task that comes again, after its first turn.
const LONGEST: Duration = Duration::from_micros(100);

impl CallerRuns {
    /// Runs the task, until the wait is over, or something else comes next on the processor; and
    /// gives the processor back.
    pub(crate) fn run<T: Send + 'static, R: Runner<T>>(
        self,
        task: T,
        awaited: &dyn Awaited<T>,
        pool: &Arc<Processors<T>>,
        runner: &R,
    ) {
        let Self { permit, lender } = self;
        let shared = &pool.shared;
        let coordinator = &shared.coordinator;
        let seen = coordinator.control_word().settled();
        let processor = shared.queues.processor(permit.processor());
        let number = permit.processor();
        let place = OnceCell::new();
        let current = Current::guest(lender, &place, &processor.guest);
        processor.counters.visits.add(1);
        current.permit.replace(Some(permit));
        let mut next = Some(task);
        let mut turns = || {
            let mut scratch = runner.scratch(lender);
            let is_its = |task: &mut T| {
                (awaited.is(task) || awaited.needs_others()) && runner.bound_to(task).is_none()
            };
            let mut began = None;
            while let Some(task) = next.take_if(is_its) {
                processor.counters.run.add(1);
                runner.on_processor(number, &mut scratch);
                let label = runner.label(&task);
                processor
                    .guest
                    .show(label.map_or(EXTERNAL_TASK, NonZeroU64::get));
                runner.run(task, pool, &mut scratch);
                // After a blocking call the processor may be another one.
                if place.get().is_some() || awaited.is_over() || coordinator.control_word() != seen
                {
                    return;
                }
                let now = (shared.clock)();
                if now.duration_since(*began.get_or_insert(now)) >= LONGEST {
                    return;
                }
                let permit = current.permit.take();
                next = (permit.as_ref()).and_then(|permit| shared.queues.local(permit).deque.pop());
                current.permit.set(permit);
            }
        };
        let outcome = current::enter(shared, &current, || {
            catch_unwind(AssertUnwindSafe(&mut turns))
        });
        let Some(permit) = current.permit.take() else {
            unreachable!("a guest has a processor, but in a blocking call");
        };
        if let Err(payload) = outcome {
            let counters = shared.queues.counters(permit.processor());
            counters.panicked.add(1);
            discard(payload);
        }
        let lender = match place.into_inner() {
            Some((machine, parker)) => coordinator.unregister(machine, parker),
            None => {
                processor.guest.show(0);
                lender
            }
        };
        Self { permit, lender }.end(next, shared);
    }

    /// Gives the processor back, with a task that is left to be run.
    pub(crate) fn end<T: Send + 'static>(self, left: Option<T>, shared: &Shared<T>) {
        let Self { permit, lender } = self;
        let queues = &shared.queues;
        if let Some(task) = left
            && let Err(task) = queues.local(&permit).deque.try_push(task)
        {
            queues.global.new.push(task);
        }
        // With the second look, which wakes a machine for what is left.
        shared.coordinator.give_back(permit, lender, queues);
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Makes `task` runnable, as [`wake`](Self::wake) does, for a thread that waits for what comes
    /// of it, and would otherwise sleep: if the thread is none of a pool's, and a processor is
    /// idle, it runs the task here and now, as a *guest* of that processor, and no thread is woken.
    /// It runs what `awaited` says is the task, again if that is what comes next on the processor;
    /// while that [needs others](Awaited::needs_others), what these turns have made runnable; and
    /// nothing else. That the wait is over is for the caller to find out.
    ///
    /// The task runs on the caller's stack, beside the caller's thread-local values; a panic is
    /// contained, as on every thread of the pool. In a [`blocking`](Self::blocking) call it gives
    /// the processor to the thread that sleeps beside it. A pool with a [source](crate::Source) has
    /// no guests.
    ///
    /// Lock-free, but for a lock that a start of a thread takes for a moment, and for what the task
    /// does. What the caller did before happens before the task runs.
    pub fn run_awaited(&self, task: T, awaited: &dyn Awaited<T>) {
        match self.begin_caller_runs() {
            Some(visit) => self.receive(visit, task, awaited),
            None => self.wake(task),
        }
    }

    /// Runs a task that the calling thread has made runnable and is about to wait for, as
    /// [`run_awaited`](Self::run_awaited) does, if it is what comes next in the global queue and a
    /// processor is idle. Costs two loads if the queue is empty.
    pub fn help(&self, awaited: &dyn Awaited<T>) {
        let global = &self.shared.queues.global;
        if global.is_empty() {
            return;
        }
        let Some(visit) = self.begin_caller_runs() else {
            return;
        };
        match global.pop_new_first() {
            Some(task) if awaited.is(&task) => self.receive(visit, task, awaited),
            // Another one's comes next: it does, on this processor.
            other => visit.end(other, &self.shared),
        }
    }

    /// Calls `work` here and now, if a processor is idle, in place of the thread that sleeps with
    /// it, whose [number](Runner::scratch) `work` is given. That thread is granted nothing before
    /// `work` has returned; but it may be [nudged](crate::Source::nudged), or not have begun.
    ///
    /// For the owner of the pool's source. The calling thread is one of the pool's meanwhile, which
    /// keeps its processor in a [`blocking`](Self::blocking) call. Lock-free, but for `work`.
    ///
    /// # Panics
    /// If `work` does, when the processor has been given back.
    pub fn visit(&self, work: impl FnOnce(usize)) {
        let Some(visit) = self.borrow() else {
            return;
        };
        let processor = self.shared.queues.processor(visit.permit.processor());
        let place = OnceCell::new();
        let current = Current::guest(visit.lender, &place, &processor.guest);
        processor.counters.visits.add(1);
        processor.guest.show(EXTERNAL_TASK);
        let call = || catch_unwind(AssertUnwindSafe(|| work(visit.lender)));
        let outcome = current::enter(&self.shared, &current, call);
        processor.guest.show(0);
        visit.end(None, &self.shared);
        outcome.unwrap_or_else(|payload| resume_unwind(payload));
    }

    /// Borrows an idle processor for a task, if the pool has no source: the task may call that, to
    /// which the threads are known that call it.
    fn begin_caller_runs(&self) -> Option<CallerRuns> {
        let has_source = self.shared.queues.source.is_attached();
        (!has_source).then(|| self.borrow())?
    }

    /// Borrows an idle processor for the calling thread, if there is one, unless the thread is a
    /// machine itself, other threads wait for a processor, or tasks wait on that one.
    fn borrow(&self) -> Option<CallerRuns> {
        let Self { shared, config, .. } = self;
        let may_visit = config.guests
            && config.stack_size.is_none()
            && !current::is_machine()
            && shared.coordinator.control_word().waiting() == 0;
        let (permit, lender) = may_visit.then(|| shared.coordinator.borrow_idle())??;
        let visit = CallerRuns { permit, lender };
        if shared.queues.local(&visit.permit).deque.is_empty() {
            return Some(visit);
        }
        visit.end(None, shared);
        None
    }

    fn receive(&self, visit: CallerRuns, task: T, awaited: &dyn Awaited<T>) {
        let runner = lock(&self.runner).clone();
        match runner {
            Some(runner) => runner.caller_runs(visit, task, awaited),
            None => unreachable!("a pool with an idle processor runs, and knows its runner"),
        }
    }
}
