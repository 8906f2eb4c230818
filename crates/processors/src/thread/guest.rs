//! A guest: a thread from outside that waits for a task, and runs it, and no other, on a processor
//! that was idle. The argument is in [`architecture`](crate::architecture).

use std::cell::OnceCell;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use filch_sync::Arc;
use filch_sync::panic::discard;

use crate::pool::processors::Processors;
use crate::pool::runner::Runner;
use crate::protocol::Permit;
use crate::protocol::state::grant::A_PIECE;
use crate::protocol::state::permit::PermitCell;
use crate::queues::shared::Shared;
use crate::thread::current::{self, Current, Place};

/// What a thread from outside waits for: a task, or what comes of it. For
/// [`Processors::run_awaited`](crate::Processors::run_awaited).
pub trait Awaited<T> {
    /// Whether the wait is over.
    fn is_over(&self) -> bool;

    /// Whether this is the task, and not another one.
    fn is(&self, task: &T) -> bool;
}

/// How long a guest goes on with a task that comes again, from the end of its first turn on.
const LONGEST: Duration = Duration::from_micros(100);

/// A processor that was idle, on the thread that has borrowed it.
pub(crate) struct Visit {
    permit: Permit,
    /// The machine that waits to get it back.
    lender: usize,
}

impl Visit {
    /// Borrows an idle processor for the calling thread, if there is one, unless the thread is a
    /// machine itself, other threads wait for a processor, or tasks wait on that one.
    pub(crate) fn begin<T: Send + 'static>(shared: &Shared<T>) -> Option<Self> {
        let coordinator = &shared.coordinator;
        // A task may call the source, to which the threads are known that call it.
        if current::is_machine()
            || shared.queues.source.is_attached()
            || coordinator.control_word().waiting() > 0
        {
            return None;
        }
        let (permit, lender) = coordinator.borrow_idle()?;
        let visit = Self { permit, lender };
        if shared.queues.locals.get(&visit.permit).deque.is_empty() {
            return Some(visit);
        }
        visit.end(None, shared);
        None
    }

    /// Runs the task, until the wait is over, or something else comes next on the processor. What
    /// of it is left to be run.
    pub(crate) fn run<T: Send + 'static, R: Runner<T>>(
        self,
        task: T,
        awaited: &dyn Awaited<T>,
        pool: &Arc<Processors<T>>,
        runner: &R,
    ) -> (Self, Option<T>) {
        let Self { permit, lender } = self;
        let shared = &pool.shared;
        let coordinator = &shared.coordinator;
        let seen = coordinator.control_word().settled();
        let processor = &shared.queues.processors[permit.processor()];
        let number = permit.processor();
        let enlisted = OnceCell::new();
        let current = Current {
            place: Place::Guest {
                lender,
                enlisted: &enlisted,
                task: &processor.guest,
            },
            permit: PermitCell::empty(),
            source: None,
        };
        processor.counters.visits.add(1);
        current.permit.replace(Some(permit));
        let mut next = Some(task);
        let mut turns = || {
            let mut scratch = runner.scratch(lender);
            let is_its = |task: &mut T| awaited.is(task) && runner.bound_to(task).is_none();
            let mut began = None;
            while let Some(task) = next.take_if(is_its) {
                processor.counters.run.add(1);
                runner.on_processor(number, &mut scratch);
                let label = runner.label(&task);
                processor.guest.show(label.map_or(A_PIECE, NonZeroU64::get));
                runner.run(task, pool, &mut scratch);
                // After a blocking call the processor may be another one.
                if enlisted.get().is_some()
                    || awaited.is_over()
                    || coordinator.control_word() != seen
                {
                    return;
                }
                let now = (shared.clock)();
                if now.duration_since(*began.get_or_insert(now)) >= LONGEST {
                    return;
                }
                let permit = current.permit.take();
                next = permit
                    .as_ref()
                    .and_then(|permit| shared.queues.locals.get(permit).deque.pop());
                current.permit.replace(permit);
            }
        };
        let outcome = current::enter(shared, &current, || {
            catch_unwind(AssertUnwindSafe(&mut turns))
        });
        let Some(permit) = current.permit.take() else {
            unreachable!("a guest has a processor, but in a blocking call");
        };
        if let Err(payload) = outcome {
            shared.queues.processors[permit.processor()]
                .counters
                .panicked
                .add(1);
            discard(payload);
        }
        let lender = match enlisted.into_inner() {
            Some((machine, parker)) => coordinator.dismiss(machine, parker),
            None => {
                processor.guest.show(0);
                lender
            }
        };
        (Self { permit, lender }, next)
    }

    /// Gives the processor back, with a task that is left to be run.
    pub(crate) fn end<T: Send + 'static>(self, left: Option<T>, shared: &Shared<T>) {
        let Self { permit, lender } = self;
        let queues = &shared.queues;
        if let Some(task) = left
            && let Err(task) = queues.locals.get(&permit).push(task)
        {
            queues.global.push(task);
        }
        // With the second look, which wakes a machine for what is left.
        shared.coordinator.give_back(permit, lender, queues);
    }
}
