//! A machine: a thread that runs the tasks of whichever processor it has. Its main loop: wait for a
//! grant, run tasks until the processor is gone, wait again.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use filch_parker::Parker;
use filch_sync::panic::{discard, drop_contained};

use crate::pool::current::{self, Current, Place};
use crate::pool::processors::Processors;
use crate::pool::runner::Runner;
use crate::protocol::state::grant::{Activity, EXTERNAL_TASK, MachineShared};
use crate::protocol::state::synced::BoundId;
use crate::protocol::{ControlWord, Grant, Permit};
use crate::queues::find_work::Watched;
use crate::queues::source::{ExternalTask, Found};
use crate::queues::task_queues::{Local, Shared};
use crate::stats::{Counter, Counters};

/// A thread, on its own stack.
pub(crate) struct Machine<'thread, T, R> {
    pub(crate) pool: &'thread Arc<Processors<T>>,
    pub(crate) shared: &'thread Shared<T>,
    pub(crate) runner: &'thread R,
    pub(crate) number: usize,
    pub(crate) parker: &'thread Parker,
    pub(crate) current: Current<'thread>,
    /// The part of it that other threads see.
    pub(crate) public: &'thread MachineShared,
    /// Its number as a bound thread; perhaps it is bound no more.
    pub(crate) bound: Cell<Option<BoundId>>,
}

/// The machine has no processor any more. It must wait for a grant, and watch these victims
/// meanwhile.
#[derive(Default)]
#[must_use = "the machine waits for what it is told to do next"]
pub(crate) struct Vacated {
    pub(crate) watched: Vec<Watched>,
    /// The processor that it waits for, if it watches.
    pub(crate) processor: usize,
}

impl<'thread, T: Send + 'static, R: Runner<T>> Machine<'thread, T, R> {
    pub(crate) fn new(
        pool: &'thread Arc<Processors<T>>,
        runner: &'thread R,
        machine: usize,
        parker: &'thread Parker,
    ) -> Self {
        let shared = &pool.shared;
        Self {
            pool,
            shared,
            runner,
            number: machine,
            parker,
            current: Current {
                place: Place::Machine(machine, parker),
                permit: Cell::new(None),
                source: Some(&shared.queues.source),
            },
            public: shared.coordinator.machine(machine),
            bound: Cell::new(None),
        }
    }

    pub(crate) fn run(&self, task: T, scratch: &mut R::Scratch) {
        if let Some(processor) = self.current.processor() {
            self.shared.queues.counters(processor).run.add(1);
            self.runner.on_processor(processor, scratch);
        }
        let label = self.runner.label(&task);
        if let Some(label) = label {
            self.public.task.show(label.get());
        }
        // If it unwinds, the runner answers for its own state; the thread goes on with the next
        // task.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| {
            self.runner.run(task, self.pool, scratch);
        })) {
            self.count(|counters| &counters.panicked);
            discard(payload);
        }
        if label.is_some() {
            self.public.task.show(0);
        }
    }

    /// Runs what is no task: the runner knows nothing of it. If it unwinds, its maker answers for
    /// what it has touched, and the main loop for the machine.
    #[cold]
    #[inline(never)]
    pub(crate) fn run_external_task(&self, external: ExternalTask) {
        self.count(|counters| &counters.external_tasks);
        self.public.task.show(EXTERNAL_TASK);
        external.run();
        self.public.task.show(0);
    }

    /// Adds one to a counter of the machine's processor.
    pub(crate) fn count(&self, counter: impl FnOnce(&Counters) -> &Counter) {
        if let Some(processor) = self.current.processor() {
            counter(self.shared.queues.counters(processor)).add(1);
        }
    }
}

/// The next step of a machine between two tasks.
enum Next<T> {
    Task(T),
    /// The control word has changed.
    Attend,
    /// The deque is empty, or the time is to be read first, since it may be another one's turn.
    Search {
        looks: bool,
    },
}

impl<T: Send + 'static, R: Runner<T>> Machine<'_, T, R> {
    pub(crate) fn main(&self, mut scratch: R::Scratch) {
        current::enter(self.shared, &self.current, || {
            let mut grant = self.wait(Vacated::default());
            // Not before the first grant: until then it may not be known yet.
            self.bound
                .set(self.shared.coordinator.bound_as(self.number));
            while grant != Grant::Exit {
                let vacated = self.obey_to_the_end(grant, &mut scratch);
                // The one place where it waits, on a stack that is as short as can be.
                grant = self.wait(vacated);
            }
            drop_contained(scratch);
        });
    }

    /// Does what the grant says. If one of the runner's hooks panics, its task is gone, and the
    /// machine goes on with the next one; so it does after an external task that panics.
    fn obey_to_the_end(&self, grant: Grant, scratch: &mut R::Scratch) -> Vacated {
        let mut grant = grant;
        loop {
            let obey = AssertUnwindSafe(|| self.obey(grant, scratch));
            let payload = match catch_unwind(obey) {
                Ok(vacated) => return vacated,
                Err(payload) => payload,
            };
            // A hook or an external task is called while the processor is here. Anything else is a
            // bug of this crate.
            let Some(permit) = self.current.permit.take() else {
                resume_unwind(payload);
            };
            discard(payload);
            self.public.task.show(0);
            let counters = self.shared.queues.counters(permit.processor());
            counters.panicked.add(1);
            grant = Grant::Run(permit);
        }
    }

    fn obey(&self, grant: Grant, scratch: &mut R::Scratch) -> Vacated {
        match grant {
            Grant::Run(permit) => match self.bound.get() {
                None => self.work(permit, None, scratch),
                Some(id) => match self.work_bound(permit, id, scratch) {
                    None => Vacated::default(),
                    Some(permit) => self.work(permit, None, scratch),
                },
            },
            Grant::Search(permit) => {
                let counters = self.shared.queues.counters(permit.processor());
                counters.wake_ups.add(1);
                match self.spin(&permit) {
                    Some(found) => self.work(permit, Some(found), scratch),
                    None => self.go_idle(permit, true),
                }
            }
            Grant::Exit => unreachable!("the main loop ends at it"),
        }
    }

    /// Runs what there is until the machine has no processor any more, which need not be the one
    /// that it began with.
    fn work(&self, permit: Permit, first: Option<Found<T>>, scratch: &mut R::Scratch) -> Vacated {
        let coordinator = &self.shared.coordinator;
        let mut seen = coordinator.control_word().settled();
        self.current.permit.replace(Some(permit));
        if let Some(found) = first {
            self.run_found(found, scratch);
        }
        loop {
            let control = coordinator.control_word();
            let found = match self.next(control, seen) {
                Next::Task(task) => Found::Task(task),
                Next::Attend => {
                    seen = control.settled();
                    match self.attend() {
                        Ok(Some(found)) => found,
                        Ok(None) => continue,
                        Err(vacated) => return vacated,
                    }
                }
                Next::Search { looks } => match self.search(looks) {
                    Ok(found) => found,
                    Err(vacated) => return vacated,
                },
            };
            self.run_found(found, scratch);
        }
    }

    /// Returns what to do between two tasks.
    #[inline]
    fn next(&self, control: ControlWord, seen: ControlWord) -> Next<T> {
        let shared = self.shared;
        let next = |permit: &Permit| {
            let local = shared.queues.local(permit);
            if control != seen || control.is_surplus(permit.processor()) {
                return Next::Attend;
            }
            if !Local::<T>::HAS_TASKS {
                return Next::Search { looks: false };
            }
            if local.fair.clock.tick() {
                return Next::Search { looks: true };
            }
            match local.deque.pop() {
                Some(task) => Next::Task(task),
                None => Next::Search { looks: false },
            }
        };
        // SAFETY: a look for a task runs none.
        match unsafe { self.current.with_permit(next) } {
            Some(next) => next,
            None => unreachable!("a machine that runs tasks has a processor"),
        }
    }

    /// Runs it, or sends a task to the thread that it is bound to.
    #[inline]
    fn run_found(&self, found: Found<T>, scratch: &mut R::Scratch) {
        match found {
            Found::Task(task) => match self.runner.bound_to(&task) {
                None => self.run(task, scratch),
                Some(thread) => self.send_to_its_thread(thread, task, scratch),
            },
            Found::ExternalTask(external) => self.run_external_task(external),
        }
    }

    /// Gives the processor up, or to a waiter, if need be, as the control word has changed between
    /// two tasks; or returns what comes first all the same.
    ///
    /// # Errors
    /// The machine has no processor any more.
    #[cold]
    #[inline(never)]
    fn attend(&self) -> Result<Option<Found<T>>, Vacated> {
        let shared = self.shared;
        let coordinator = &shared.coordinator;
        let Some(permit) = self.current.permit.take() else {
            unreachable!("a machine that runs tasks has a processor");
        };
        if coordinator.control_word().waiting() > 0 && coordinator.is_queued_task_due(&permit) {
            let local = shared.queues.local(&permit);
            let found = local.take_before_waiters(shared);
            if found.is_none() || local.fair.turn_of_tasks.get().is_none() {
                coordinator.forget_returns(&permit);
            }
            if found.is_some() {
                self.current.permit.replace(Some(permit));
                return Ok(found);
            }
        }
        let machine = self.number;
        let counters = shared.queues.counters(permit.processor());
        let control = coordinator.control_word();
        let (counter, kept) = if control.is_surplus(permit.processor()) {
            // Counted before: afterwards the counters may be another thread's.
            counters.retired.add(1);
            let kept = coordinator.retire(permit, machine, &shared.queues);
            (Some(&counters.retired), kept)
        } else if control.waiting() > 0 {
            counters.handed_to_waiters.add(1);
            // What lies in the deque may be one that gave way, for which nobody was woken.
            if !shared.queues.local(&permit).deque.is_empty() {
                coordinator.wake_one();
            }
            let kept = coordinator.hand_to_waiter(permit, machine);
            (Some(&counters.handed_to_waiters), kept)
        } else {
            // There may be more processors than before, and what the last task scheduled has told
            // none of them.
            coordinator.wake_one();
            (None, Err(permit))
        };
        match kept {
            Ok(()) => Err(Vacated::default()),
            Err(permit) => {
                if let Some(counter) = counter {
                    counter.take_back(1);
                }
                self.current.permit.replace(Some(permit));
                Ok(None)
            }
        }
    }

    /// Waits for what the machine is told to do next.
    #[inline]
    fn wait(&self, Vacated { watched, processor }: Vacated) -> Grant {
        self.public.set_activity(Activity::Parked);
        let told = match watched.is_empty() {
            true => None,
            false => self.watch(watched, processor),
        };
        let shared = self.shared;
        let nudged = || shared.queues.source.nudged();
        let wait = || (shared.coordinator).wait_beside(self.number, self.parker, nudged);
        let grant = told.unwrap_or_else(wait);
        self.public.set_activity(Activity::Runs);
        grant
    }
}
