//! The lists of a worker: its data, its tasks, and the way to drive it.

use std::any::{TypeId, type_name};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use crate::context::Context;
use crate::data::{Listed, OwnedCell, Place, Request, Role};
use crate::function::{Function, Handler};
use crate::route::{Route, Routes, Task};
use crate::worker::public::Public;

/// The default size of a fiber's stack.
const STACK: usize = 256 * 1024;

/// A worker to add to a scheduler: its lists, before it lives.
///
/// All of it runs on the thread of its scheduler, in the order of a worker's life: the makers of
/// its own data, [`setup_owner`](Self::setup_owner), the makers of its local data, the binding of
/// others' data, [`setup`](Self::setup), and then its tasks or its own [`run`](Self::run).
#[must_use = "it does nothing until it is added to a scheduler"]
pub struct Worker {
    pub(crate) spec: Box<Spec>,
}

/// The parts of a [`Worker`].
#[derive(Default)]
pub(crate) struct Spec {
    pub(crate) name: String,
    pub(crate) data: Vec<Listed>,
    pub(crate) makers: Vec<(Listed, Maker)>,
    pub(crate) setup_owner: Vec<Box<dyn Setup>>,
    pub(crate) setup: Vec<Box<dyn Setup>>,
    pub(crate) handlers: Vec<ListedHandler>,
    /// The types of task that its own `run` receives.
    pub(crate) receives: Vec<ListedRoute>,
    pub(crate) run: Option<Run>,
    /// The size of its stack, if it has one of its own.
    pub(crate) fiber: Option<usize>,
    /// The most tasks that may wait for it.
    pub(crate) room: usize,
    /// The names of the workers that run each task before it does.
    pub(crate) after: Vec<String>,
    /// Set once it is added.
    pub(crate) public: Option<Arc<Public>>,
}

/// Makes data on the thread of the scheduler.
pub(crate) type Maker = Box<dyn FnOnce() -> Place + Send>;

/// A worker's own `run`.
pub(crate) type Run = Box<dyn FnOnce(Context<'_>) + Send>;

/// A type of task that a worker lists.
pub(crate) struct ListedRoute {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
    pub(crate) route: fn(&Routes) -> Route,
}

impl ListedRoute {
    fn of<T: Task>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
            route: Routes::route::<T>,
        }
    }
}

/// A function that runs a type of task.
pub(crate) struct ListedHandler {
    pub(crate) task: ListedRoute,
    pub(crate) function: Box<dyn AnyHandler>,
}

/// A [`Handler`] without its types.
pub(crate) trait AnyHandler: Send {
    fn requests(&self) -> Vec<Option<Request>>;

    /// # Safety
    /// As [`Handler::call`]. There is a task of its type.
    unsafe fn call(&self, task: NonNull<()>, data: &[*mut ()], by: Context<'_>);
}

struct HandlerOf<F, T, P>(F, PhantomData<fn() -> (T, P)>);

impl<T: Task, P: 'static, F: Handler<T, P>> AnyHandler for HandlerOf<F, T, P> {
    fn requests(&self) -> Vec<Option<Request>> {
        F::requests()
    }

    unsafe fn call(&self, task: NonNull<()>, data: &[*mut ()], by: Context<'_>) {
        // SAFETY: the caller's.
        unsafe { self.0.call(task.cast::<T>().as_ref(), data, by) };
    }
}

/// A function that is called once, without its type.
pub(crate) trait Setup: Send {
    fn requests(&self) -> Vec<Option<Request>>;

    /// # Safety
    /// As [`Function::call`].
    unsafe fn call(self: Box<Self>, data: &[*mut ()], by: Context<'_>);
}

struct SetupOf<F, P>(F, PhantomData<fn() -> P>);

impl<P: 'static, F: Function<P, ()> + Send> Setup for SetupOf<F, P> {
    fn requests(&self) -> Vec<Option<Request>> {
        F::requests()
    }

    unsafe fn call(self: Box<Self>, data: &[*mut ()], by: Context<'_>) {
        // SAFETY: the caller's.
        unsafe { self.0.call(data, by) };
    }
}

impl Spec {
    /// Lists the types of task of its functions, and then those that it receives.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = &ListedRoute> {
        let handlers = self.handlers.iter().map(|handler| &handler.task);
        handlers.chain(&self.receives)
    }

    /// Returns whether it must be alone in its scheduler.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.run.is_some() && self.fiber.is_none()
    }
}

impl Worker {
    /// Makes a worker that lists nothing yet. The name is for people, and for others that run
    /// [after](Self::after) it.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            spec: Box::new(Spec {
                name: name.into(),
                room: usize::MAX,
                ..Spec::default()
            }),
        }
    }

    /// Adds data of this type to own: made here, destroyed here, and used by others in between.
    pub fn owns<T: Send + Sync + 'static>(self, make: impl FnOnce() -> T + Send + 'static) -> Self {
        self.owns_until(make, drop)
    }

    /// As [`owns`](Self::owns), and gives the data away at the end of the worker instead of
    /// dropping it: `|world| sender.send(world)`, for example. It is as the last task left it, even
    /// one that panicked.
    pub fn owns_until<T: Send + Sync + 'static>(
        self,
        make: impl FnOnce() -> T + Send + 'static,
        end: impl FnOnce(T) + Send + 'static,
    ) -> Self {
        let make = move || Place::Shared(Arc::new(OwnedCell::new(make(), end)));
        self.list::<T>(Role::Owner, Some(Box::new(make)))
    }

    /// Adds data of this type that nobody else uses, and that need not change threads: a window,
    /// for example.
    pub fn local<T: 'static>(self, make: impl FnOnce() -> T + Send + 'static) -> Self {
        let make = move || Place::Local(Rc::new(UnsafeCell::new(make())));
        self.list::<T>(Role::Local, Some(Box::new(make)))
    }

    /// Adds data of this type that a worker of the same scheduler owns.
    pub fn group<T: 'static>(self) -> Self {
        self.list::<T>(Role::Group, None)
    }

    /// Adds data of this type that another worker owns, in any scheduler, to be read.
    pub fn shared<T: 'static>(self) -> Self {
        self.list::<T>(Role::Shared, None)
    }

    fn list<T: 'static>(mut self, role: Role, make: Option<Maker>) -> Self {
        let listed = Listed {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
            role,
        };
        self.spec.data.push(listed);
        self.spec.makers.extend(make.map(|make| (listed, make)));
        self
    }

    /// Calls the function once its own data is made, and before anybody else sees it: with its own
    /// data only, which needs no lock.
    pub fn setup_owner<P: 'static>(
        mut self,
        function: impl Function<P, ()> + Send + 'static,
    ) -> Self {
        let setup = Box::new(SetupOf(function, PhantomData));
        self.spec.setup_owner.push(setup);
        self
    }

    /// Calls the function once all of its data is bound, with the data that it takes, locked.
    pub fn setup<P: 'static>(mut self, function: impl Function<P, ()> + Send + 'static) -> Self {
        let setup = Box::new(SetupOf(function, PhantomData));
        self.spec.setup.push(setup);
        self
    }

    /// Runs tasks of type `T` by this function: `fn(&T, &mut World, &Input)`, for example. The data
    /// that the function takes is locked, all or none, while it runs. Several functions for one
    /// type run one after the other.
    pub fn on<T: Task, P: 'static>(mut self, function: impl Handler<T, P>) -> Self {
        self.spec.handlers.push(ListedHandler {
            task: ListedRoute::of::<T>(),
            function: Box::new(HandlerOf(function, PhantomData)),
        });
        self
    }

    /// Lets its own `run` receive tasks of type `T`: see [`Context::receive`]. No data is locked
    /// for these.
    pub fn receives<T: Task>(mut self) -> Self {
        self.spec.receives.push(ListedRoute::of::<T>());
        self
    }

    /// Gives the worker a `run` of its own; it ends when that returns. Without one it runs its
    /// tasks as they come, and gives way when there is none, or when data is locked.
    ///
    /// Without a [fiber](Self::in_fiber) it must be alone in its scheduler.
    pub fn run(mut self, run: impl FnOnce(Context<'_>) + Send + 'static) -> Self {
        self.spec.run = Some(Box::new(run));
        self
    }

    /// Gives the worker a stack of its own, of 256 KiB: its waits keep nobody else from running.
    pub fn in_fiber(self) -> Self {
        self.in_fiber_of(STACK)
    }

    /// As [`in_fiber`](Self::in_fiber), with a stack of that many bytes, rounded up to whole pages.
    ///
    /// A fiber that needs more aborts the program, with a message that names the worker: see the
    /// [crate](crate).
    pub fn in_fiber_of(mut self, bytes: usize) -> Self {
        self.spec.fiber = Some(bytes);
        self
    }

    /// Lets at most `tasks` wait for the worker, not counting the one that it runs. A further one
    /// is dropped, for this worker: whoever waits for it is told, and the report counts it.
    pub fn room(mut self, tasks: usize) -> Self {
        self.spec.room = tasks;
        self
    }

    /// Makes the worker run a task only after each worker of that name that lists it has run or
    /// received it, or has ended: of those in the same scheduler, now or later.
    pub fn after(mut self, name: impl Into<String>) -> Self {
        self.spec.after.push(name.into());
        self
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let data: Vec<_> = self.spec.data.iter().map(|data| data.name).collect();
        let tasks: Vec<_> = self.spec.tasks().map(|task| task.name).collect();
        f.debug_struct("Worker")
            .field("name", &self.spec.name)
            .field("data", &data)
            .field("tasks", &tasks)
            .field("in_fiber", &self.spec.fiber.is_some())
            .field("has_run", &self.spec.run.is_some())
            .finish_non_exhaustive()
    }
}
