//! The tasks that wait for a worker, in the order in which they came.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::envelope::Envelope;
use crate::route::TaskKind;

/// A task that waits for a worker, or that the worker has begun.
pub(crate) struct Queued {
    /// Its number in the order in which its scheduler handed out tasks.
    pub(crate) order: u64,
    /// The next of the worker's functions for it.
    pub(crate) next: usize,
    pub(crate) envelope: Envelope,
}

/// The tasks of a worker. Only its own thread reaches it.
#[derive(Default)]
pub(crate) struct Inbox {
    waiting: RefCell<VecDeque<Queued>>,
    /// The order of the oldest task that it has begun, if any.
    at: Cell<Option<u64>>,
}

impl Inbox {
    pub(crate) fn push(&self, order: u64, envelope: Envelope) {
        self.waiting.borrow_mut().push_back(Queued {
            order,
            next: 0,
            envelope,
        });
    }

    /// Takes the oldest task, which the worker begins.
    pub(crate) fn take(&self) -> Option<Queued> {
        let taken = self.waiting.borrow_mut().pop_front()?;
        if self.at.get().is_none() {
            self.at.set(Some(taken.order));
        }
        Some(taken)
    }

    /// Takes out the oldest task of that kind.
    pub(crate) fn take_of(&self, kind: TaskKind) -> Option<Queued> {
        let mut waiting = self.waiting.borrow_mut();
        let is_it = |queued: &Queued| queued.envelope.kind == kind;
        let taken = waiting.iter().position(is_it)?;
        waiting.remove(taken)
    }

    /// Puts back a task with which the worker cannot go on now: it stays the oldest.
    pub(crate) fn put_back(&self, queued: Queued) {
        self.waiting.borrow_mut().push_front(queued);
    }

    /// Notes that the worker has finished the task.
    pub(crate) fn leave(&self, order: u64) {
        // A task that it took inside another one changes nothing.
        if self.at.get() == Some(order) {
            self.at.set(None);
        }
    }

    /// Drops all waiting tasks, which tells their waiters.
    pub(crate) fn clear(&self) {
        // Not under the borrow: a destructor is the user's code.
        drop(self.waiting.take());
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.borrow().len()
    }

    /// Returns the order of the oldest task that waits, or that the worker has begun.
    pub(crate) fn oldest(&self) -> Option<u64> {
        let waiting = self.waiting.borrow().front().map(|queued| queued.order);
        match (self.at.get(), waiting) {
            (Some(at), Some(waiting)) => Some(at.min(waiting)),
            (at, waiting) => at.or(waiting),
        }
    }

    /// Returns the order of the oldest waiting task of that kind.
    pub(crate) fn oldest_of(&self, kind: TaskKind) -> Option<u64> {
        let waiting = self.waiting.borrow();
        let is_it = |queued: &&Queued| queued.envelope.kind == kind;
        waiting.iter().find(is_it).map(|queued| queued.order)
    }

    /// Returns the order and the kind of the oldest waiting task.
    pub(crate) fn next(&self) -> Option<(u64, TaskKind)> {
        let waiting = self.waiting.borrow();
        let queued = waiting.front()?;
        Some((queued.order, queued.envelope.kind))
    }
}
