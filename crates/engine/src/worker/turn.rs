//! A worker's turn: the worker, its home, and its way to let others run.

use std::any::TypeId;
use std::ptr::NonNull;
use std::rc::Rc;
use std::thread;
use std::time::Instant;

use filch_parker::Unparker;

use crate::envelope::Envelope;
use crate::error::ReceiveError;
use crate::exit::Exit;
use crate::request::Request;
use crate::route::{Route, TaskKind};
use crate::routes::Routes;
use crate::worker::bound::{Bound, Denied};
use crate::worker::cell::{Ran, WorkerCell};
use crate::worker::home::Home;
use crate::worker::inbox::Queued;
use crate::worker::operations::{Call, Operations, Stopped};
use crate::worker::public::WaitsFor;
use crate::worker::way::GiveWay;

/// A worker's turn.
pub(crate) struct Turn<'a> {
    pub(crate) worker: &'a WorkerCell,
    pub(crate) home: &'a Home,
    pub(crate) way: &'a dyn GiveWay,
}

impl Turn<'_> {
    /// Returns the caller for its code.
    pub(crate) fn call(&self) -> Call<'_> {
        Call(self)
    }

    /// Gives way, as the worker cannot get its data.
    fn wait_out(&self, denied: Denied) -> Result<(), Stopped> {
        if let Denied::Nested(request) = denied {
            return Err(Stopped::Conflict(request));
        }
        self.worker.denied(denied);
        self.give_way(true);
        if self.is_ending() {
            self.worker.show_wait(None);
        }
        Ok(())
    }
}

impl Operations for Turn<'_> {
    fn name(&self) -> &str {
        &self.worker.public.name
    }

    fn is_ending(&self) -> bool {
        // Code that unwinds ends its worker. A destructor that waits meanwhile would let others run
        // on a thread that seems to panic.
        self.worker.is_ending() || thread::panicking()
    }

    fn give_way(&self, is_polled: bool) {
        if thread::panicking() {
            return;
        }
        if is_polled {
            self.home.is_polled();
        }
        self.way.give_way();
    }

    fn wait_for(&self, what: Option<WaitsFor>) {
        self.worker.show_wait(what);
        if what.is_none() {
            self.home.has_progressed();
        }
    }

    fn be_awaited_at(&self, moment: Instant) {
        self.home.is_awaited_at(moment);
    }

    fn unparker(&self) -> Unparker {
        self.home.unparker.clone()
    }

    fn route(&self, id: TypeId, ask: fn(&Routes) -> Route) -> Rc<Route> {
        self.home.route(id, ask)
    }

    fn broadcast(&self, route: &Route, envelope: Envelope) -> usize {
        self.home.links.broadcast(route, envelope)
    }

    fn lists_task(&self, kind: TaskKind) -> bool {
        self.worker.public.lists_task(kind)
    }

    fn run_nested(&self, kind: TaskKind, task: NonNull<()>) -> Result<(), Stopped> {
        if !self.worker.runs(kind) {
            return Err(Stopped::Unlisted);
        }
        if !self.worker.is_bound() {
            return Err(Stopped::Early);
        }
        // Before the first of its functions runs, not between them.
        if let Some(request) = self.worker.conflict(kind) {
            return Err(Stopped::Conflict(request));
        }
        let mut next = 0;
        while !self.is_ending() {
            match self
                .worker
                .run_functions(self.call(), kind, task, &mut next)
            {
                Ok(Ran::Yes) => return Ok(()),
                Ok(Ran::Later(denied)) => self.wait_out(denied)?,
                Err((during, message)) => {
                    self.worker.tell_to_end(Exit::Panicked { during, message });
                    return Err(Stopped::Panicked);
                }
            }
        }
        Err(Stopped::Ending)
    }

    fn run_queued(&self) -> usize {
        let mut ran = 0;
        let may_run = || self.worker.is_bound() && !self.is_ending();
        while may_run() && self.worker.run_oldest(self.call()) {
            self.home.has_progressed();
            ran += 1;
        }
        ran
    }

    fn receive(&self, kind: TaskKind) -> Result<Option<Queued>, ReceiveError> {
        self.worker.receive(kind)
    }

    fn received(&self, queued: Queued, has_run: bool) {
        self.worker.received(queued, has_run);
    }

    fn is_read_only(&self, request: &Request) -> bool {
        self.worker.is_read_only(request)
    }

    fn bound(&self, id: TypeId, requests: Vec<Option<Request>>) -> Result<Rc<Bound>, Denied> {
        self.worker.bound_for(id, requests)
    }

    fn lock(
        &self,
        bound: &Rc<Bound>,
        call: &mut dyn FnMut(&[*mut ()]),
    ) -> Result<Result<(), String>, Stopped> {
        while !self.is_ending() {
            match self.worker.call(bound, &mut *call) {
                Ok(result) => return Ok(result),
                Err(denied) => self.wait_out(denied)?,
            }
        }
        Err(Stopped::Ending)
    }
}
