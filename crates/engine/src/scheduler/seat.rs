//! A worker's place in its scheduler, with its stack.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::context::Context;
use crate::exit::Exit;
use crate::fiber::Fiber;
use crate::scheduler::core::{Core, Nested};
use crate::worker::cell::WorkerCell;
use crate::worker::life::Step;
use crate::worker::public::Stage;

/// A worker's place in its scheduler.
pub(crate) struct Seat {
    pub(crate) worker: Rc<WorkerCell>,
    /// It is on a stack already: further down on this one, or it runs right now.
    is_active: Cell<bool>,
    /// The size of a stack of its own that it is to get.
    stack: Option<usize>,
    fiber: RefCell<Option<Fiber>>,
}

impl Seat {
    pub(crate) fn new(worker: Rc<WorkerCell>, stack: Option<usize>) -> Self {
        Self {
            worker,
            is_active: Cell::new(false),
            stack,
            fiber: RefCell::new(None),
        }
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.worker.public.stage() == Stage::Gone
    }

    /// The worker's turn, unless it waits further down on this stack.
    pub(crate) fn take_turn(&self, core: &Rc<Core>) {
        if self.is_gone() || self.is_active.replace(true) {
            return;
        }
        match self.stack {
            Some(stack) => self.resume(core, stack),
            None => {
                let context = Context {
                    worker: &self.worker,
                    core,
                    way: &Nested(core),
                };
                while self.worker.advance(context) == Step::Again {}
            }
        }
        self.is_active.set(false);
    }

    /// On a stack of its own.
    fn resume(&self, core: &Rc<Core>, stack: usize) {
        let mut fiber = self.fiber.borrow_mut();
        if fiber.is_none() {
            let (worker, own) = (Rc::clone(&self.worker), Rc::clone(core));
            let made = Fiber::new(stack, move |way| {
                let context = Context {
                    worker: &worker,
                    core: &own,
                    way,
                };
                loop {
                    match worker.advance(context) {
                        Step::Again => {}
                        Step::GiveWay => way.give_way(),
                        Step::Gone => break,
                    }
                }
            });
            match made {
                Ok(made) => *fiber = Some(made),
                Err(_) => {
                    drop(fiber);
                    self.end_without_stack(core);
                    return;
                }
            }
        }
        // Back here when it has given way.
        if let Some(running) = &mut *fiber
            && running.resume()
        {
            *fiber = None;
        }
    }

    /// It has made nothing yet: its ending needs no stack of its own.
    fn end_without_stack(&self, core: &Rc<Core>) {
        self.worker.tell_to_end(Exit::NoStack);
        let context = Context {
            worker: &self.worker,
            core,
            way: &Nested(core),
        };
        while self.worker.advance(context) == Step::Again {}
    }
}
