//! What a worker knows of its scheduler.

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use filch_parker::Unparker;

use crate::data::by_type_id::ByTypeId;
use crate::data::owners::Owners;
use crate::links::Links;
use crate::route::Route;
use crate::routes::Routes;

/// What a worker knows of its scheduler. Only the thread of that reaches it.
pub(crate) struct Home {
    /// The scheduler's.
    pub(crate) number: usize,
    pub(crate) links: Arc<Links>,
    pub(crate) owners: Arc<Owners>,
    /// Wakes the scheduler's thread.
    pub(crate) unparker: Unparker,
    /// Something was done since this was last looked at.
    progressed: Cell<bool>,
    /// A worker waits for something that wakes nobody: it is to be asked again.
    polls: Cell<bool>,
    /// The first moment that a worker waits for.
    awaited: Cell<Option<Instant>>,
    /// Routes that workers have asked for: shared on this thread, since each clone of an `Arc` is a
    /// write to what other threads read.
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

    /// Something was done: the scheduler looks again before it blocks.
    pub(crate) fn has_progressed(&self) {
        self.progressed.set(true);
    }

    /// Whether something was done since this was last asked.
    pub(crate) fn take_progress(&self) -> bool {
        self.progressed.replace(false)
    }

    /// A worker waits for something that wakes nobody: a lock, an owner, a condition.
    pub(crate) fn is_polled(&self) {
        self.polls.set(true);
    }

    /// Whether one has since this was last asked.
    pub(crate) fn take_polls(&self) -> bool {
        self.polls.replace(false)
    }

    /// A worker waits for that moment.
    pub(crate) fn is_awaited_at(&self, moment: Instant) {
        let first = self.awaited.get().map_or(moment, |other| other.min(moment));
        self.awaited.set(Some(first));
    }

    /// The first moment that a worker has waited for since this was last asked.
    pub(crate) fn take_awaited(&self) -> Option<Instant> {
        self.awaited.take()
    }

    pub(crate) fn route(&self, id: TypeId, ask: fn(&Routes) -> Route) -> Rc<Route> {
        let mut routes = self.routes.borrow_mut();
        let known = routes.entry(id);
        Rc::clone(known.or_insert_with(|| Rc::new(ask(self.links.routes()))))
    }
}
