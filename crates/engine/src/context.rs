//! What the code of a worker can do beside changing its data.

use std::any::{TypeId, type_name};
use std::fmt;
use std::panic::resume_unwind;
use std::ptr::NonNull;
use std::rc::Rc;
use std::time::Instant;

use crate::completion::{Completed, Completion};
use crate::envelope::Envelope;
use crate::error::{Ending, LockDataError, NestedError, ReceiveError, WaitError};
use crate::function::Function;
use crate::param::{Param, sealed};
use crate::received::Received;
use crate::request::Request;
use crate::route::Route;
use crate::routes::Routes;
use crate::task::Task;
use crate::worker::bound::{Bound, Denied};
use crate::worker::operations::{Call, Operations, Stopped};
use crate::worker::public::WaitsFor;

/// What the code of a worker can do beside changing its data: send, wait, give way. A task's
/// function takes it as a parameter among its data; a worker's own `run` is called with it.
///
/// **Waiting.** In a [fiber](crate::Worker::in_fiber) a wait switches back to the scheduler.
/// Without one it steps the scheduler right there, on top of its own stack: other workers go on,
/// and the wait is over once they have let go of the stack. Data that the waiting code has locked
/// stays locked.
#[derive(Clone, Copy)]
pub struct Context<'a>(&'a dyn Operations);

impl sealed::Sealed for Context<'_> {}

impl Param for Context<'_> {
    type Item<'call> = Context<'call>;

    fn request() -> Option<Request> {
        None
    }

    unsafe fn get<'call>(_: *mut (), call: Call<'call>) -> Context<'call> {
        Context(call.0)
    }
}

impl<'a> From<Call<'a>> for Context<'a> {
    fn from(call: Call<'a>) -> Self {
        Self(call.0)
    }
}

impl Context<'_> {
    /// The name of the worker.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Whether the worker is to end: it was removed, its scheduler terminated, or data that it uses
    /// is gone. Then its own `run` should return soon.
    pub fn is_ending(&self) -> bool {
        self.0.is_ending()
    }

    /// Sends a task to every worker, of every scheduler, that lists its type: it runs there later.
    /// How many schedulers it went to; none, and it is dropped. Lock-free, but for the first task
    /// of a type in a scheduler, whose route is looked up.
    ///
    /// # Panics
    /// If the task's `clone` does. Then it has reached some of them.
    pub fn broadcast<T: Task>(&self, task: T) -> usize {
        let route = self.route::<T>();
        let envelope = Envelope::new(route.kind, task);
        self.0.broadcast(&route, envelope)
    }

    /// The same, and waits until the last of them has run it, or dropped it as it ended.
    ///
    /// # Errors
    /// The task, if the worker lists its type itself. [`WaitError::Ending`], if the worker is told
    /// to end meanwhile.
    ///
    /// # Panics
    /// If the task's `clone` does.
    pub fn complete<T: Task>(&self, task: T) -> Result<Completed, WaitError<T>> {
        let route = self.route::<T>();
        if self.0.lists_task(route.kind) {
            return Err(WaitError::Own(task));
        }
        let (completion, sending) = Completion::new(self.0.unparker());
        let envelope = Envelope::tracked(route.kind, task, sending.copy());
        self.0.broadcast(&route, envelope);
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

    /// Runs a task by this worker's own functions, here and now. What functions around it have
    /// locked is not locked again: both may read it. What else it takes is waited for.
    ///
    /// # Errors
    /// The task, if the worker has no function for its type, or if one of both changes what the
    /// other one has too; [`NestedError::Panicked`].
    pub fn run_task<T: Task>(&self, task: T) -> Result<(), NestedError<T>> {
        let route = self.route::<T>();
        match self.0.run_nested(route.kind, NonNull::from(&task).cast()) {
            Ok(()) => Ok(()),
            Err(Stopped::Unlisted) => Err(NestedError::Unlisted(task)),
            Err(Stopped::Ending) => Err(NestedError::Ending(task)),
            Err(Stopped::Conflict(request)) => Err(NestedError::Conflict(task, request)),
            Err(Stopped::Panicked) => Err(NestedError::Panicked),
            Err(Stopped::Early) => Err(NestedError::Early(task)),
        }
    }

    /// Runs the tasks that wait for this worker, oldest first, until there is none, or data is
    /// locked. How many. For a worker with its own `run`, whose tasks nobody else runs.
    pub fn run_queued(&self) -> usize {
        self.0.run_queued()
    }

    /// Waits for a task of a type that this worker [receives](crate::Worker::receives), the oldest
    /// first.
    ///
    /// # Errors
    /// If the worker does not receive that type, or is to end.
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

    /// The same, without waiting: `None`, if there is no such task now.
    ///
    /// # Errors
    /// If the worker does not receive that type, or is to end.
    pub fn try_receive<T: Task>(&self) -> Result<Option<Received<'_, T>>, ReceiveError> {
        if self.is_ending() {
            return Err(ReceiveError::Ending);
        }
        let queued = self.0.receive(self.route::<T>().kind)?;
        Ok(queued.map(|queued| Received::new(queued, self.0)))
    }

    /// Locks data, waiting for it if need be, and calls `function` with it: `|world: &mut World,
    /// input: &Input| …`. For a worker's own `run`; what a task's function takes is locked as it
    /// is.
    ///
    /// # Errors
    /// If the worker does not list it, it excludes what is locked already, or the worker is to end.
    ///
    /// # Panics
    /// If the function does. What it changes is poisoned.
    pub fn lock<P: 'static, R>(&self, function: impl Function<P, R>) -> Result<R, LockDataError> {
        let bound = self.bound(&function)?;
        let mut function = Some(function);
        let mut result = None;
        let mut call = |data: &[*mut ()]| {
            let Some(function) = function.take() else {
                unreachable!("called once");
            };
            // SAFETY: `bound` is of its parameters, and locked.
            result = Some(unsafe { function.call(data, Call(self.0)) });
        };
        match self.0.lock(&bound, &mut call) {
            // Said once already, where it began.
            Ok(Err(message)) => resume_unwind(Box::new(message)),
            Err(Stopped::Conflict(request)) => return Err(LockDataError::Conflict(request)),
            Err(_) => return Err(LockDataError::Ending),
            Ok(Ok(())) => {}
        }
        match result {
            Some(result) => Ok(result),
            None => unreachable!("it was called"),
        }
    }

    /// What a function takes, looked at as it is for a task when its worker is added.
    fn bound<P: 'static, R, F: Function<P, R>>(&self, _: &F) -> Result<Rc<Bound>, LockDataError> {
        let requests = F::requests();
        if let Some((_, second)) = Request::conflict(&requests) {
            return Err(LockDataError::Conflict(second));
        }
        let mut listed = requests.iter().flatten();
        if let Some(request) = listed.find(|request| self.0.is_read_only(request)) {
            return Err(LockDataError::ReadOnly(*request));
        }
        let bound = self.0.bound(TypeId::of::<P>(), requests);
        bound.map_err(|denied| match denied {
            Denied::Unlisted(request) => LockDataError::Unlisted(request),
            _ => unreachable!("nothing was locked"),
        })
    }

    /// Lets others run once.
    ///
    /// # Errors
    /// If the worker is to end.
    pub fn give_way(&self) -> Result<(), Ending> {
        self.0.give_way(true);
        match self.is_ending() {
            true => Err(Ending),
            false => Ok(()),
        }
    }

    /// Waits until `condition` holds. It is asked each time that it is the worker's turn; at least
    /// every millisecond, if no other worker keeps the thread longer.
    ///
    /// # Errors
    /// If the worker is to end.
    pub fn wait_until(&self, condition: impl FnMut() -> bool) -> Result<(), Ending> {
        self.wait_for(WaitsFor::Condition, condition)
    }

    /// Waits until that moment, to some microseconds.
    ///
    /// # Errors
    /// If the worker is to end.
    pub fn sleep_until(&self, moment: Instant) -> Result<(), Ending> {
        self.wait_for(WaitsFor::Condition, || {
            let is_over = Instant::now() >= moment;
            if !is_over {
                self.0.be_awaited_at(moment);
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
        self.0.route(TypeId::of::<T>(), Routes::route::<T>)
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
