//! The slot of a worker in its scheduler, with its stack.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::envelope::Envelope;
use crate::error::Exit;
#[cfg(unix)]
use crate::scheduler::overflow::Watch;
use crate::worker::cell::WorkerCell;
use crate::worker::home::{GiveWay, Home, Turn};
use crate::worker::life::{Step, TASKS_A_TURN};
use crate::worker::public::Stage;

/// The slot of a worker in its scheduler.
pub(crate) struct WorkerSlot {
    pub(crate) worker: Rc<WorkerCell>,
    /// Set while it is on a stack: further down on this one, or running.
    is_active: Cell<bool>,
    /// The size of its own stack, if it gets one.
    pub(crate) stack: Option<usize>,
    /// The number of tasks handed to it since its last turn was due.
    handed: Cell<usize>,
    fiber: RefCell<Option<Fiber>>,
}

impl WorkerSlot {
    pub(crate) fn new(worker: Rc<WorkerCell>, stack: Option<usize>) -> Self {
        Self {
            worker,
            is_active: Cell::new(false),
            stack,
            handed: Cell::new(0),
            fiber: RefCell::new(None),
        }
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.worker.public.stage() == Stage::Gone
    }

    /// Hands it a task. Returns whether it has had as many as it runs in a turn.
    pub(crate) fn hand(&self, order: u64, envelope: Envelope) -> bool {
        self.worker.enqueue(order, envelope);
        self.handed.set(self.handed.get() + 1);
        self.handed.get() >= TASKS_A_TURN
    }

    /// Gives the worker its turn, unless it waits further down on this stack. Without a stack of
    /// its own it gives way by `nested`.
    pub(crate) fn take_turn(&self, home: &Rc<Home>, nested: &dyn GiveWay) {
        self.handed.set(0);
        if self.is_gone() || self.is_active.replace(true) {
            return;
        }
        match self.stack {
            Some(stack) => self.resume(stack, home, nested),
            None => self.advance(home, nested),
        }
        self.is_active.set(false);
    }

    /// Runs the worker on this stack, until there is nothing that it can do now.
    fn advance(&self, home: &Home, way: &dyn GiveWay) {
        let worker = &self.worker;
        let turn = Turn { worker, home, way };
        while worker.advance(&turn) == Step::Again {}
    }

    /// Runs the worker on a stack of its own, until it gives way.
    fn resume(&self, stack: usize, home: &Rc<Home>, nested: &dyn GiveWay) {
        let mut fiber = self.fiber.borrow_mut();
        if fiber.is_none() {
            match Fiber::new(stack, &self.worker, home) {
                Ok(made) => *fiber = Some(made),
                Err(_) => {
                    // It has made nothing yet: its ending needs no stack of its own.
                    self.worker.tell_to_end(Exit::NoStack);
                    return self.advance(home, nested);
                }
            }
        }
        if let Some(Fiber { life, .. }) = &mut *fiber {
            let _: CoroutineResult<(), ()> = life.resume(());
        }
    }
}

/// A worker's whole life on a stack of its own, to and from which its thread switches.
struct Fiber {
    life: Coroutine<(), (), ()>,
    #[cfg(unix)]
    _watch: Watch,
}

impl Fiber {
    /// # Errors
    /// If there is no memory for a stack of that many bytes.
    #[cold]
    fn new(bytes: usize, worker: &Rc<WorkerCell>, home: &Rc<Home>) -> io::Result<Self> {
        // The crate adds a page to it, and would overflow.
        if bytes > isize::MAX as usize / 2 {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let stack = DefaultStack::new(bytes)?;
        #[cfg(unix)]
        let _watch = Watch::new(&stack, &worker.public.name);
        let (worker, home) = (Rc::clone(worker), Rc::clone(home));
        let live = move |way: &Yielder<(), ()>, ()| {
            let (worker, home) = (&*worker, &*home);
            let turn = Turn { worker, home, way };
            loop {
                match worker.advance(&turn) {
                    Step::Again => {}
                    Step::GiveWay => way.give_way(),
                    Step::Gone => break,
                }
            }
        };
        Ok(Self {
            life: Coroutine::with_stack(stack, live),
            #[cfg(unix)]
            _watch,
        })
    }
}

impl GiveWay for Yielder<(), ()> {
    /// Switches back.
    fn give_way(&self) {
        self.suspend(());
    }
}
