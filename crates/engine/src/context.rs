//! The calls that a worker's code can make, and a task that it has received.

use std::any::{TypeId, type_name};
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::resume_unwind;
use std::ptr::NonNull;
use std::rc::Rc;
use std::time::Instant;
use std::{fmt, thread};

use filch_data_cell::Access;

use crate::completion::{Completed, Completion, Part};
use crate::data::{Place, Request};
use crate::envelope::Envelope;
use crate::error::{Ending, Exit, LockDataError, NestedError, ReceiveError, WaitError};
use crate::function::{Function, Param, sealed};
use crate::route::{Route, Routes, Task};
use crate::worker::bound::Bound;
use crate::worker::cell::Ran;
use crate::worker::home::Turn;
use crate::worker::inbox::Queued;
use crate::worker::public::WaitsFor;

/// The calls that a worker's code can make: send, wait, give way. A task's function takes it as a
/// parameter among its data; a worker's own `run` is called with it.
///
/// **Waiting.** In a [fiber](crate::Worker::in_fiber) a wait switches back to the scheduler.
/// Without one it runs the scheduler right there, on top of the worker's stack: other workers go
/// on, and the wait ends once they have returned from the stack. Data that the waiting code has
/// locked stays locked.
#[derive(Clone, Copy)]
pub struct Context<'a>(pub(crate) &'a Turn<'a>);

impl sealed::Sealed for Context<'_> {}

impl Param for Context<'_> {
    type Item<'call> = Context<'call>;

    fn request() -> Option<Request> {
        None
    }

    unsafe fn get<'call>(_: *mut (), by: Context<'call>) -> Context<'call> {
        by
    }
}

impl Context<'_> {
    /// Returns the name of the worker.
    pub fn name(&self) -> &str {
        &self.0.worker.public.name
    }

    /// Returns whether the worker must end: it was removed, its scheduler terminated, or data that
    /// it uses is gone. Then its own `run` should return soon.
    pub fn is_ending(&self) -> bool {
        self.0.is_ending()
    }

    /// Sends a task to every worker, of every scheduler, that lists its type: it runs there later.
    /// Returns the number of schedulers reached; if none, the task is dropped. Lock-free, except
    /// that a scheduler looks up the route of a type for its first task.
    ///
    /// # Panics
    /// If the task's `clone` panics. Then it has reached some of them.
    pub fn broadcast<T: Task>(&self, task: T) -> usize {
        let route = self.route::<T>();
        let envelope = Envelope::new(route.kind, task);
        self.0.home.links.broadcast(&route, envelope)
    }

    /// As [`broadcast`](Self::broadcast), and waits until each has run it, or dropped it.
    ///
    /// # Errors
    /// The task, if the worker itself lists its type. [`WaitError::Ending`], if the worker is told
    /// to end meanwhile.
    ///
    /// # Panics
    /// If the task's `clone` panics.
    pub fn complete<T: Task>(&self, task: T) -> Result<Completed, WaitError<T>> {
        let route = self.route::<T>();
        if self.0.worker.public.lists_task(route.kind) {
            return Err(WaitError::Own(task));
        }
        let (completion, sending) = Completion::new(self.0.home.unparker.clone());
        let envelope = Envelope::tracked(route.kind, task, sending.copy());
        self.0.home.links.broadcast(&route, envelope);
        drop(sending);
        let mut completed = None;
        let is_done = || {
            completed = completion.poll();
            completed.is_some()
        };
        match self.wait_for(WaitsFor::Task(route.name), is_done) {
            Ok(()) => completed.ok_or(WaitError::Ending),
            Err(Ending) => Err(WaitError::Ending),
        }
    }

    /// Runs a task by this worker's own functions, here and now. It and the functions around it may
    /// both read data. It waits for data that others hold.
    ///
    /// # Errors
    /// The task, if the worker has no function for its type, or if it or a function around it
    /// changes data of both; [`NestedError::Panicked`].
    pub fn run_task<T: Task>(&self, task: T) -> Result<(), NestedError<T>> {
        let (worker, kind) = (self.0.worker, self.route::<T>().kind);
        if !worker.runs(kind) {
            return Err(NestedError::Unlisted(task));
        }
        if !worker.is_bound() {
            return Err(NestedError::Early(task));
        }
        // Before the first of its functions runs, not between them.
        if let Some(request) = worker.conflict(kind) {
            return Err(NestedError::Conflict(task, request));
        }
        let mut next = 0;
        while !self.is_ending() {
            let pointer = NonNull::from(&task).cast();
            match worker.run_functions(self.0, kind, pointer, &mut next) {
                Ok(Ran::Yes) => return Ok(()),
                Ok(Ran::Later(denied)) => {
                    if let Err(request) = self.0.wait_out(denied) {
                        return Err(NestedError::Conflict(task, request));
                    }
                }
                Err((during, message)) => {
                    worker.tell_to_end(Exit::Panicked { during, message });
                    return Err(NestedError::Panicked);
                }
            }
        }
        Err(NestedError::Ending(task))
    }

    /// Runs the tasks that wait for this worker, oldest first, until there is none, or data is
    /// locked. Returns their number. For a worker with its own `run`, whose tasks nobody else runs.
    pub fn run_queued(&self) -> usize {
        let Turn { worker, home, .. } = self.0;
        let mut ran = 0;
        while worker.is_bound() && !self.is_ending() && worker.run_oldest(self.0) {
            home.has_progressed();
            ran += 1;
        }
        ran
    }

    /// Waits for the oldest task of a type that this worker [receives](crate::Worker::receives).
    ///
    /// # Errors
    /// If the worker does not receive that type, or must end.
    pub fn receive<T: Task>(&self) -> Result<Received<'_, T>, ReceiveError> {
        let name = type_name::<T>();
        let mut received = None;
        let is_over = || {
            received = self.try_receive().transpose();
            received.is_some()
        };
        match self.wait_for(WaitsFor::Receive(name), is_over) {
            Ok(()) => received.unwrap_or(Err(ReceiveError::Ending)),
            Err(Ending) => Err(ReceiveError::Ending),
        }
    }

    /// As [`receive`](Self::receive) without waiting: `None` if there is no such task now.
    ///
    /// # Errors
    /// If the worker does not receive that type, or must end.
    pub fn try_receive<T: Task>(&self) -> Result<Option<Received<'_, T>>, ReceiveError> {
        if self.is_ending() {
            return Err(ReceiveError::Ending);
        }
        let queued = self.0.worker.receive(self.route::<T>().kind)?;
        Ok(queued.map(|queued| Received {
            queued: Some(queued),
            by: self.0,
            task: PhantomData,
        }))
    }

    /// Locks data, waits for it if need be, and calls `function` with it: `|world: &mut World,
    /// input: &Input| …`. For a worker's own `run`; the data of a task's function is locked
    /// already.
    ///
    /// # Errors
    /// If the worker does not list it, it excludes data locked already, or the worker must end.
    ///
    /// # Panics
    /// If the function panics. The data that it changes is poisoned.
    pub fn lock<P: 'static, R>(&self, function: impl Function<P, R>) -> Result<R, LockDataError> {
        let bound = self.bound(&function)?;
        let mut function = Some(function);
        let mut call = |data: &[*mut ()]| {
            let Some(function) = function.take() else {
                unreachable!("called once");
            };
            // SAFETY: `bound` is of its parameters, and locked.
            unsafe { function.call(data, *self) }
        };
        while !self.is_ending() {
            match self.0.worker.call(self.0.home, &bound, &mut call) {
                Ok(Ok(result)) => return Ok(result),
                // The panic was reported where it began.
                Ok(Err(message)) => resume_unwind(Box::new(message)),
                Err(denied) => self.0.wait_out(denied).map_err(LockDataError::Conflict)?,
            }
        }
        Err(LockDataError::Ending)
    }

    /// Lets data be locked again that a task left half changed when it panicked: it is as that left
    /// it, and a worker that needs it before ends. Returns whether it was poisoned. For the owner
    /// and its group.
    ///
    /// # Errors
    /// If the worker does not list the data, does not have it yet, or must only read it.
    pub fn clear_poison<T: 'static>(&self) -> Result<bool, LockDataError> {
        let request = Request::of::<T>(Access::Write);
        if self.0.worker.is_read_only(&request) {
            return Err(LockDataError::ReadOnly(request));
        }
        match self.0.worker.data.borrow().get(request.id) {
            Some((_, Place::Shared(cell))) => Ok(cell.lock().clear_poison()),
            Some(_) => Ok(false),
            None => Err(LockDataError::Unlisted(request)),
        }
    }

    /// Finds the data of a function, with the checks that a task's function gets when it is added.
    fn bound<P: 'static, R, F: Function<P, R>>(&self, _: &F) -> Result<Rc<Bound>, LockDataError> {
        let requests = F::requests();
        if let Some((_, second)) = Request::conflict(&requests) {
            return Err(LockDataError::Conflict(second));
        }
        let mut listed = requests.iter().flatten();
        if let Some(request) = listed.find(|request| self.0.worker.is_read_only(request)) {
            return Err(LockDataError::ReadOnly(*request));
        }
        let bound = self.0.worker.bound_for(TypeId::of::<P>(), requests);
        bound.map_err(LockDataError::Unlisted)
    }

    /// Lets others run once. A worker that calls it again before it has done anything else, as far
    /// as its scheduler can see, asks whether there is something to do: like a
    /// [condition](Self::wait_until), at least every millisecond.
    ///
    /// # Errors
    /// If the worker must end.
    pub fn give_way(&self) -> Result<(), Ending> {
        let is_again = self.0.worker.gives_way();
        if !is_again {
            self.0.home.has_progressed();
        }
        self.0.give_way(is_again);
        match self.is_ending() {
            true => Err(Ending),
            false => Ok(()),
        }
    }

    /// Waits until `condition` returns true. It is called in each turn of the worker; at least
    /// every millisecond, if no other worker keeps the thread longer.
    ///
    /// # Errors
    /// If the worker must end.
    pub fn wait_until(&self, condition: impl FnMut() -> bool) -> Result<(), Ending> {
        self.wait_for(WaitsFor::Condition, condition)
    }

    /// Waits until that moment, to within some microseconds.
    ///
    /// # Errors
    /// If the worker must end.
    pub fn sleep_until(&self, moment: Instant) -> Result<(), Ending> {
        self.wait_for(WaitsFor::Condition, || {
            let is_over = Instant::now() >= moment;
            if !is_over {
                self.0.home.is_awaited_at(moment);
            }
            is_over
        })
    }

    fn wait_for(&self, what: WaitsFor, mut is_over: impl FnMut() -> bool) -> Result<(), Ending> {
        while !is_over() {
            if self.is_ending() {
                self.0.wait_for(None);
                return Err(Ending);
            }
            self.0.wait_for(Some(what));
            self.0.give_way(what.is_polled());
        }
        self.0.wait_for(None);
        Ok(())
    }

    fn route<T: Task>(&self) -> Rc<Route> {
        self.0.home.route(TypeId::of::<T>(), Routes::route::<T>)
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("worker", &self.name())
            .field("is_ending", &self.is_ending())
            .finish_non_exhaustive()
    }
}

/// A task that a worker's own `run` has [received](crate::Context::receive). Dropping this ends the
/// task as run: a thread or a worker that waits for it goes on. If a panic drops it, the task has
/// not run. If it is leaked, the wait never ends.
pub struct Received<'a, T: Task> {
    /// Taken by the drop.
    queued: Option<Queued>,
    by: &'a Turn<'a>,
    task: PhantomData<T>,
}

impl<T: Task> Deref for Received<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        let Some(queued) = &self.queued else {
            unreachable!("it is there until this is dropped");
        };
        // SAFETY: it was received as a task of its kind, which is this type's; it stays where it is
        // as long as this is borrowed.
        unsafe { queued.envelope.task().cast().as_ref() }
    }
}

impl<T: Task> Drop for Received<'_, T> {
    fn drop(&mut self) {
        if !thread::panicking()
            && let Some(queued) = self.queued.take()
        {
            self.by.worker.public.ran.add_one();
            queued.envelope.ran();
        }
    }
}

impl<T: Task + fmt::Debug> fmt::Debug for Received<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Received").field(&**self).finish()
    }
}
