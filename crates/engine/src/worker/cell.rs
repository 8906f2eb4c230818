//! A living worker, on the thread of its scheduler.

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::sync::Arc;

use filch_sync::atomic::Ordering;
use filch_sync::lock;
use filch_sync::panic::{catch_panic, drop_all_contained, drop_contained};

use crate::context::Context;
use crate::data::{Listed, Request, Role, Table};
use crate::envelope::Envelope;
use crate::error::{Exit, ReceiveError};
use crate::route::TaskKind;
use crate::worker::bound::{Bound, Denied};
use crate::worker::home::{Home, Turn};
use crate::worker::inbox::{Inbox, Queued};
use crate::worker::public::{Public, WaitsFor};
use crate::worker::spec::{AnyHandler, Maker, Run, Setup, Spec};

/// A living worker. Only the thread of its scheduler reaches it.
pub(crate) struct WorkerCell {
    pub(crate) public: Arc<Public>,
    pub(crate) inbox: Inbox,
    /// The tasks that its own `run` receives: these have no functions.
    to_receive: Inbox,
    pub(crate) data: RefCell<Table>,
    pub(crate) lists: Vec<Listed>,
    pub(crate) makers: RefCell<Vec<(Listed, Maker)>>,
    pub(crate) setup_owner: RefCell<Vec<Box<dyn Setup>>>,
    pub(crate) setup: RefCell<Vec<Box<dyn Setup>>>,
    handlers: Vec<(TaskKind, Box<dyn AnyHandler>)>,
    /// The data of each of them, once it is bound.
    bound: RefCell<Vec<Bound>>,
    /// The data of functions for which its own `run` locks data, by their parameters.
    bound_by_type: RefCell<HashMap<TypeId, Rc<Bound>>>,
    pub(crate) run: RefCell<Option<Run>>,
    /// The workers that run each task before it does.
    after: RefCell<Vec<Rc<WorkerCell>>>,
    /// The locked data of the functions on its stack, outermost first. Each is borrowed by the
    /// [`call`](Self::call) that put it here, until that takes it out.
    frames: RefCell<Vec<&'static Bound>>,
    /// Set while it shows what it waits for.
    shows_wait: Cell<bool>,
    /// Set if it has given way, and has done nothing since.
    has_given_way: Cell<bool>,
    /// The reason why it must end.
    pub(crate) exit: RefCell<Option<Exit>>,
}

impl Drop for WorkerCell {
    /// Contains panics of the user's values that its functions have captured.
    fn drop(&mut self) {
        drop_all_contained(std::mem::take(&mut self.handlers));
        drop_all_contained(self.makers.take());
        drop_all_contained(self.setup_owner.take());
        drop_all_contained(self.setup.take());
        drop_contained(self.run.take());
    }
}

/// The outcome of running a task.
pub(crate) enum Ran {
    Yes,
    /// It cannot get its data now.
    Later(Denied),
}

impl WorkerCell {
    pub(crate) fn new(spec: Spec, public: Arc<Public>) -> Self {
        let kinds = public.lists.iter().map(|route| route.kind);
        let functions = spec.handlers.into_iter().map(|listed| listed.function);
        Self {
            inbox: Inbox::default(),
            to_receive: Inbox::default(),
            data: RefCell::default(),
            lists: spec.data,
            makers: RefCell::new(spec.makers),
            setup_owner: RefCell::new(spec.setup_owner),
            setup: RefCell::new(spec.setup),
            handlers: kinds.zip(functions).collect(),
            bound: RefCell::default(),
            bound_by_type: RefCell::default(),
            run: RefCell::new(spec.run),
            after: RefCell::default(),
            frames: RefCell::default(),
            shows_wait: Cell::new(false),
            has_given_way: Cell::new(false),
            exit: RefCell::new(None),
            public,
        }
    }

    /// Returns whether it runs a task after other workers.
    pub(crate) fn follows(&self) -> bool {
        !self.public.after.is_empty()
    }

    /// Finds, among these, the workers that it follows.
    pub(crate) fn follow(&self, workers: impl Iterator<Item = Rc<Self>>) {
        let leads = |other: &Rc<Self>| self.public.after.contains(&other.public.name);
        *self.after.borrow_mut() = workers.filter(leads).collect();
    }

    /// Puts a task behind its others, or drops it if there is no room for it.
    pub(crate) fn enqueue(&self, order: u64, envelope: Envelope) {
        if self.public.is_full() {
            return self.public.refused.add_one();
        }
        let inbox = match self.receives(envelope.kind) {
            false => &self.inbox,
            true => &self.to_receive,
        };
        inbox.push(order, envelope);
        self.show_queue();
    }

    /// Notes that it gives way, and returns whether it did so before and has done nothing since.
    pub(crate) fn gives_way(&self) -> bool {
        self.has_given_way.replace(true)
    }

    fn show_queue(&self) {
        // ORDERING: Relaxed: for people.
        self.public
            .queued
            .store(self.inbox.len() + self.to_receive.len(), Ordering::Relaxed);
    }

    /// Shows what it waits for, or that it goes on.
    pub(crate) fn show_wait(&self, what: Option<WaitsFor>) {
        self.has_given_way.set(false);
        if what.is_some() || self.shows_wait.get() {
            self.shows_wait.set(what.is_some());
            *lock(&self.public.waits_for) = what;
        }
    }

    /// Makes the worker end, for that reason, unless it had one before.
    pub(crate) fn tell_to_end(&self, exit: Exit) {
        self.exit.borrow_mut().get_or_insert(exit);
    }

    /// Returns whether it must end: others told it, or it found a reason itself.
    pub(crate) fn is_ending(&self) -> bool {
        if let Some(told) = self.public.told.get() {
            self.tell_to_end(told.clone());
        }
        self.exit.borrow().is_some()
    }

    /// Binds its tasks to their data: all that it lists is there.
    pub(crate) fn bind(&self) {
        let data = self.data.borrow();
        let bound = self.handlers.iter().map(|(_, function)| {
            match Bound::new(function.requests(), &data, &self.public) {
                Ok(bound) => bound,
                Err(_) => unreachable!("looked at when it was added, and all is there"),
            }
        });
        *self.bound.borrow_mut() = bound.collect();
    }

    /// Forgets the data to which its tasks were bound.
    pub(crate) fn unbind(&self) {
        self.bound.borrow_mut().clear();
        self.bound_by_type.borrow_mut().clear();
    }

    /// Returns the data of a function that is not one of its handlers.
    pub(crate) fn bound_for(
        &self,
        parameters: TypeId,
        requests: Vec<Option<Request>>,
    ) -> Result<Rc<Bound>, Request> {
        if let Some(bound) = self.bound_by_type.borrow().get(&parameters) {
            return Ok(Rc::clone(bound));
        }
        let bound = Bound::new(requests, &self.data.borrow(), &self.public)?;
        let bound = Rc::new(bound);
        let mut known = self.bound_by_type.borrow_mut();
        known.insert(parameters, Rc::clone(&bound));
        Ok(bound)
    }

    /// Locks the data of `bound`, and calls `call` with pointers to it, unless it is denied.
    ///
    /// # Errors
    /// The data that it cannot get.
    pub(crate) fn call<R>(
        &self,
        home: &Home,
        bound: &Bound,
        call: impl FnOnce(&[*mut ()]) -> R,
    ) -> Result<Result<R, String>, Denied> {
        let locked = bound.lock(&self.frames.borrow(), home)?;
        self.show_wait(None);
        // SAFETY: it is taken out below, before `bound` may go: `catch_panic` returns in any case.
        let frame = unsafe { &*ptr::from_ref(bound) };
        self.frames.borrow_mut().push(frame);
        let around = self.public.holds.get();
        self.public.holds.set(around | bound.bit);
        let result = catch_panic(|| call(&bound.pointers));
        self.public.holds.set(around);
        self.frames.borrow_mut().pop();
        bound.unlock(locked, result.is_err(), home);
        Ok(result)
    }

    /// Runs the functions for a task, from `next` on.
    pub(crate) fn run_functions(
        &self,
        turn: &Turn<'_>,
        kind: TaskKind,
        task: NonNull<()>,
        next: &mut usize,
    ) -> Result<Ran, (&'static str, String)> {
        let all_bound = self.bound.borrow();
        while let Some((own, function)) = self.handlers.get(*next) {
            if *own == kind {
                let result = self.call(turn.home, &all_bound[*next], |data| {
                    // SAFETY: this is bound to its parameters, which are locked; the task is of the
                    // kind that it is listed for.
                    unsafe {
                        function.call(task, data, Context(turn));
                    }
                });
                match result {
                    Ok(Ok(())) => {}
                    Ok(Err(message)) => return Err((self.public.lists[*next].name, message)),
                    Err(denied) => return Ok(Ran::Later(denied)),
                }
            }
            *next += 1;
        }
        Ok(Ran::Yes)
    }

    /// Runs the oldest task that waits. Returns `false` if there is none, or it must wait.
    pub(crate) fn run_oldest(&self, turn: &Turn<'_>) -> bool {
        if !self.may_run_oldest(turn.home) {
            return false;
        }
        let Some(mut queued) = self.inbox.take() else {
            return false;
        };
        self.show_queue();
        let order = queued.order;
        let (kind, task) = (queued.envelope.kind, queued.envelope.task());
        let ran = self.run_functions(turn, kind, task, &mut queued.next);
        match ran {
            Ok(Ran::Yes) => {
                self.inbox.leave(order);
                // Counted before it is complete: its waiter finds it in a report.
                self.public.ran.add_one();
                queued.envelope.ran();
                true
            }
            Ok(Ran::Later(denied)) => {
                self.inbox.put_back(queued);
                self.show_queue();
                self.denied(denied);
                false
            }
            Err((during, message)) => {
                self.inbox.leave(order);
                drop(queued);
                self.tell_to_end(Exit::Panicked { during, message });
                false
            }
        }
    }

    /// Returns whether it has a function for such tasks.
    pub(crate) fn runs(&self, kind: TaskKind) -> bool {
        self.handlers.iter().any(|(own, _)| *own == kind)
    }

    /// Returns whether its own `run` receives such tasks.
    fn receives(&self, kind: TaskKind) -> bool {
        let receives = &self.public.lists[self.handlers.len()..];
        receives.iter().any(|route| route.kind == kind)
    }

    /// Takes the oldest task of a kind that it receives, if it may.
    pub(crate) fn receive(&self, kind: TaskKind) -> Result<Option<Queued>, ReceiveError> {
        if !self.receives(kind) {
            return Err(ReceiveError::Unlisted);
        }
        let is_early = |order| !self.is_next(order, kind);
        if self.follows() && self.to_receive.oldest_of(kind).is_some_and(is_early) {
            return Ok(None);
        }
        let received = self.to_receive.take_of(kind);
        self.show_queue();
        Ok(received)
    }

    /// Drops the remaining tasks.
    pub(crate) fn empty_queue(&self) {
        self.inbox.clear();
        self.to_receive.clear();
        self.show_queue();
    }

    /// Returns whether the workers before it have run the oldest task that waits.
    fn may_run_oldest(&self, home: &Home) -> bool {
        if !self.follows() {
            return true;
        }
        let Some((own, kind)) = self.inbox.next() else {
            return false;
        };
        let is_next = self.is_next(own, kind);
        if !is_next {
            self.show_wait(Some(WaitsFor::After));
            home.is_polled();
        }
        is_next
    }

    /// Returns whether the workers before it have run this task. Their turns count as progress, so
    /// nothing else need wake the scheduler.
    fn is_next(&self, own: u64, kind: TaskKind) -> bool {
        let is_behind = |other: &Rc<Self>| {
            let oldest = match other.receives(kind) {
                true => other.to_receive.oldest_of(kind),
                false => other.inbox.oldest(),
            };
            other.public.lists_task(kind) && oldest.is_some_and(|theirs| theirs <= own)
        };
        !self.after.borrow().iter().any(is_behind)
    }

    /// Returns whether it is bound to its data, so that it can run tasks.
    pub(crate) fn is_bound(&self) -> bool {
        self.bound.borrow().len() == self.handlers.len()
    }

    /// Returns the data of a task's functions that excludes data locked around them.
    pub(crate) fn conflict(&self, kind: TaskKind) -> Option<Request> {
        let bound = self.bound.borrow();
        let of_kind = self.handlers.iter().zip(bound.iter());
        let mut of_kind = of_kind.filter(|((own, _), _)| *own == kind);
        of_kind.find_map(|(_, bound)| bound.conflict(&self.frames.borrow()))
    }

    /// Handles denied data: the worker waits, or ends.
    pub(crate) fn denied(&self, denied: Denied) {
        match denied {
            Denied::Held(request) | Denied::Nested(request) => {
                self.show_wait(Some(WaitsFor::Lock(request)));
                self.public.gave_way.add_one();
            }
            Denied::Ended(request) => self.tell_to_end(Exit::OwnerGone(request.name)),
            Denied::Poisoned(request) => self.tell_to_end(Exit::Poisoned(request.name)),
        }
    }

    /// Returns whether a function would change data that this worker must only read.
    pub(crate) fn is_read_only(&self, request: &Request) -> bool {
        request.writes()
            && self
                .lists
                .iter()
                .any(|listed| listed.id == request.id && listed.role == Role::Shared)
    }
}
