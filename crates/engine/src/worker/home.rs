//! The scheduler of a worker, as the worker knows it.

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use filch_parker::Unparker;

use crate::data::owners::Owners;
use crate::links::Links;
use crate::route::{Route, Routes};

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
        Rc::clone(known.or_insert_with(|| Rc::new(ask(self.links.routes()))))
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
