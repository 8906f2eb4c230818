//! A worker's turn, and its scheduler, as the worker knows it.

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use filch_parker::Unparker;

use crate::data::Request;
use crate::links::Links;
use crate::owners::Owners;
use crate::route::{Route, Routes};
use crate::worker::bound::Denied;
use crate::worker::cell::WorkerCell;
use crate::worker::public::WaitsFor;

/// The scheduler of a worker, as the worker knows it. Only the scheduler's thread reaches it.
pub(crate) struct Home {
    /// The number of the scheduler.
    pub(crate) number: usize,
    pub(crate) links: Arc<Links>,
    pub(crate) owners: Arc<Owners>,
    /// Wakes the scheduler's thread.
    pub(crate) unparker: Unparker,
    /// Set if something was done since the last look at this.
    progressed: Cell<bool>,
    /// Set if a worker waits for something that wakes nobody: it must be asked again.
    polls: Cell<bool>,
    /// The first moment for which a worker waits.
    awaited: Cell<Option<Instant>>,
    /// Routes that workers have looked up: shared on this thread, since each clone of an `Arc`
    /// writes to a word that other threads read.
    routes: RefCell<HashMap<TypeId, Rc<Route>, ByTypeId>>,
}

impl Home {
    pub(crate) fn new(
        number: usize,
        links: Arc<Links>,
        owners: Arc<Owners>,
        unparker: Unparker,
    ) -> Self {
        Self {
            number,
            links,
            owners,
            unparker,
            progressed: Cell::new(false),
            polls: Cell::new(false),
            awaited: Cell::new(None),
            routes: RefCell::default(),
        }
    }

    /// Notes that something was done: the scheduler looks again before it blocks.
    pub(crate) fn has_progressed(&self) {
        self.progressed.set(true);
    }

    /// Notes that a worker waits for something that wakes nobody: a lock, an owner, a condition.
    pub(crate) fn is_polled(&self) {
        self.polls.set(true);
    }

    /// Notes that a worker waits for that moment.
    pub(crate) fn is_awaited_at(&self, moment: Instant) {
        let first = self.awaited.get().map_or(moment, |other| other.min(moment));
        self.awaited.set(Some(first));
    }

    /// Returns what was noted since the last call: progress, polls, the first moment.
    pub(crate) fn take_notes(&self) -> (bool, bool, Option<Instant>) {
        (
            self.progressed.take(),
            self.polls.take(),
            self.awaited.take(),
        )
    }

    pub(crate) fn route(&self, id: TypeId, ask: fn(&Routes) -> Route) -> Rc<Route> {
        let mut routes = self.routes.borrow_mut();
        let known = routes.entry(id);
        Rc::clone(known.or_insert_with(|| Rc::new(ask(&self.links.routes))))
    }
}

/// The hasher of a map from type ids: their own bits are their hash.
type ByTypeId = BuildHasherDefault<OwnBits>;

#[derive(Default)]
struct OwnBits(u64);

impl Hasher for OwnBits {
    fn finish(&self) -> u64 {
        self.0
    }

    /// Takes the bits that a type id writes.
    fn write_u64(&mut self, bits: u64) {
        self.0 = bits;
    }

    /// Works, but std never hashes a type id by it.
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }
}

/// The way in which a worker lets others run.
pub(crate) trait GiveWay {
    /// Returns when it is the worker's turn again.
    fn give_way(&self);
}

/// A worker's turn.
pub(crate) struct Turn<'a> {
    pub(crate) worker: &'a WorkerCell,
    pub(crate) home: &'a Home,
    pub(crate) way: &'a dyn GiveWay,
}

impl Turn<'_> {
    /// Gives way, as the worker cannot get its data.
    ///
    /// # Errors
    /// The data, if code around this has locked it.
    pub(crate) fn wait_out(&self, denied: Denied) -> Result<(), Request> {
        if let Denied::Nested(request) = denied {
            return Err(request);
        }
        self.worker.denied(denied);
        if let Denied::Held(_) = denied {
            self.give_way(false);
        }
        if self.is_ending() {
            self.worker.show_wait(None);
        }
        Ok(())
    }

    /// Returns whether the worker must end.
    pub(crate) fn is_ending(&self) -> bool {
        // Code that unwinds ends its worker. A destructor that waits meanwhile would let others run
        // on a thread that seems to panic.
        self.worker.is_ending() || thread::panicking()
    }

    /// Lets others run once. The worker's turn comes again soon if it `is_polled`, and otherwise
    /// when its scheduler is woken.
    pub(crate) fn give_way(&self, is_polled: bool) {
        if thread::panicking() {
            return;
        }
        if is_polled {
            self.home.is_polled();
        }
        self.way.give_way();
    }

    /// Shows the thing that the worker waits for, or that it goes on.
    pub(crate) fn wait_for(&self, what: Option<WaitsFor>) {
        self.worker.show_wait(what);
        if what.is_none() {
            self.home.has_progressed();
        }
    }
}
