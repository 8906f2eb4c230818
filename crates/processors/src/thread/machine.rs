//! A machine: a thread that runs the tasks of whichever processor it has, and how it runs one.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use filch_parker::Parker;
use filch_sync::Arc;
use filch_sync::panic::discard;

use crate::pool::current::{Current, Place};
use crate::pool::processors::Processors;
use crate::pool::runner::Runner;
use crate::protocol::state::binding::BoundId;
use crate::protocol::state::grant::{A_PIECE, MachineShared};
use crate::protocol::state::permit::PermitCell;
use crate::queues::shared::Shared;
use crate::queues::source::Piece;
use crate::queues::steal_policy::SparedVictim;
use crate::stats::{Counter, Counters};

/// A thread, on its own stack.
pub(crate) struct Machine<'thread, T, R> {
    pool: &'thread Arc<Processors<T>>,
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
    pub(crate) watched: Vec<SparedVictim>,
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
                permit: PermitCell::empty(),
                source: Some(&shared.queues.source),
            },
            public: shared.coordinator.machine(machine),
            bound: Cell::new(None),
        }
    }

    pub(crate) fn run(&self, task: T, scratch: &mut R::Scratch) {
        if let Some(processor) = self.current.permit.processor() {
            self.shared.queues.processors[processor].counters.run.add(1);
            self.runner.on_processor(processor, scratch);
        }
        let label = self.runner.label(&task);
        if let Some(label) = label {
            self.show(label.get());
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
            self.show(0);
        }
    }

    /// Runs what is no task: the runner knows nothing of it. If it unwinds, its maker answers for
    /// what it has touched, and the main loop for the machine.
    #[cold]
    #[inline(never)]
    pub(crate) fn run_piece(&self, piece: Piece) {
        self.count(|counters| &counters.pieces);
        self.show(A_PIECE);
        piece.run();
        self.show(0);
    }

    /// Shows in a dump which task the thread runs; 0: none with a label.
    #[inline]
    pub(crate) fn show(&self, label: u64) {
        self.public.task.show(label);
    }

    /// Adds one to a counter of the machine's processor.
    pub(crate) fn count(&self, counter: impl FnOnce(&Counters) -> &Counter) {
        if let Some(processor) = self.current.permit.processor() {
            counter(&self.shared.queues.processors[processor].counters).add(1);
        }
    }
}
