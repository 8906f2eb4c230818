//! A scheduler, for other threads, and for the thread that drives it; why it refuses a worker.

use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use crate::data::{Request, Role};
use crate::error::texts;
use crate::scheduler::core::{Core, MOST_BLOCKED};
use crate::shared::{Place, Shared};
use crate::worker::public::WorkerHandle;
use crate::worker::spec::{Spec, Worker};

/// A scheduler of an engine, to which workers are added. Dropping it changes nothing.
#[derive(Clone)]
pub struct Scheduler {
    pub(crate) number: usize,
    pub(crate) shared: Arc<Shared>,
}

impl Scheduler {
    /// Adds a worker at once: a task sent after the return reaches it.
    ///
    /// # Errors
    /// The refused worker, and the reason: [`Unfit`].
    pub fn add(&self, worker: Worker) -> Result<WorkerHandle, AddError> {
        match self.fit(&worker.spec) {
            Ok(()) => self.shared.add(self.number, worker),
            Err(reason) => Err(AddError { worker, reason }),
        }
    }

    /// Checks that the worker lists the data that its functions take.
    fn fit(&self, spec: &Spec) -> Result<(), Unfit> {
        let mut types = HashSet::new();
        if let Some(twice) = spec.data.iter().find(|data| !types.insert(data.id)) {
            return Err(Unfit::ListedTwice(twice.name));
        }
        for handler in &spec.handlers {
            fit_function(spec, handler.task.name, &handler.function.requests())?;
        }
        if let Some(first) = spec.receives.first()
            && spec.run.is_none()
        {
            return Err(Unfit::NeverReceived(first.name));
        }
        let mut types = HashSet::new();
        let handled = spec.handlers.iter().map(|handler| handler.task.id);
        types.extend(handled);
        if let Some(twice) = spec.receives.iter().find(|task| !types.insert(task.id)) {
            return Err(Unfit::ListedTwice(twice.name));
        }
        for setup in &spec.setup {
            fit_function(spec, "setup", &setup.requests())?;
        }
        for setup in &spec.setup_owner {
            let requests = setup.requests();
            fit_function(spec, "setup_owner", &requests)?;
            let foreign = |request: &&Request| role(spec, request) != Some(Role::Owner);
            if let Some(request) = requests.iter().flatten().find(foreign) {
                return Err(Unfit::NotOwn(*request));
            }
        }
        Ok(())
    }

    /// Tells all its workers to end, and then itself. Workers that are added from now on are
    /// refused. The second call does nothing.
    pub fn terminate(&self) {
        self.shared.terminate(self.number);
    }

    /// Returns whether it has been terminated, and its last worker has ended.
    pub fn is_terminated(&self) -> bool {
        self.shared.is_over(self.number)
    }
}

fn role(spec: &Spec, request: &Request) -> Option<Role> {
    let listed = spec.data.iter().find(|data| data.id == request.id)?;
    Some(listed.role)
}

fn fit_function(
    spec: &Spec,
    function: &'static str,
    requests: &[Option<Request>],
) -> Result<(), Unfit> {
    for &data in requests.iter().flatten() {
        match role(spec, &data) {
            None => return Err(Unfit::Unlisted { function, data }),
            Some(Role::Shared) if data.writes() => {
                return Err(Unfit::ReadOnly { function, data });
            }
            Some(_) => {}
        }
    }
    match Request::conflict(requests) {
        Some((first, second)) => Err(Unfit::Conflict {
            function,
            first,
            second,
        }),
        None => Ok(()),
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler")
            .field("name", &self.shared.name_of(self.number))
            .field("is_terminated", &self.is_terminated())
            .finish_non_exhaustive()
    }
}

/// A scheduler that the calling thread drives itself: for example the main thread, which alone may
/// touch the window. [`Engine::local_scheduler`](crate::Engine::local_scheduler) lends it.
pub struct LocalScheduler {
    core: Rc<Core>,
    handle: Scheduler,
    not_send: PhantomData<*mut ()>,
}

impl LocalScheduler {
    /// Makes the scheduler on the thread that will drive it.
    pub(crate) fn new(place: Place, handle: Scheduler) -> Self {
        Self {
            core: Core::new(place, &handle.shared),
            handle,
            not_send: PhantomData,
        }
    }

    /// Returns the handle for other threads.
    pub fn handle(&self) -> &Scheduler {
        &self.handle
    }

    /// Runs one round of the main loop: drops the workers that have ended, hands out tasks, gives
    /// each worker its turn. After some rounds without work, it blocks for at most a millisecond.
    /// Returns whether there will be another round.
    ///
    /// A worker without a fiber that waits in its turn waits in this call, on this thread's stack.
    pub fn update(&self) -> bool {
        self.core.round();
        self.core.rest(Some(MOST_BLOCKED));
        self.goes_on()
    }

    /// As [`update`](Self::update) without blocking, unless a worker without a fiber waits in its
    /// turn: for a thread that has other work.
    pub fn poll(&self) -> bool {
        self.core.round();
        self.goes_on()
    }

    /// Returns whether it is not over. If it is, it refuses all messages, and nobody waits.
    fn goes_on(&self) -> bool {
        if !self.core.is_over() {
            return true;
        }
        self.core.close();
        self.handle.shared.is_over_now(self.handle.number);
        false
    }

    /// Runs rounds until it is terminated, and its last worker has ended.
    pub fn run(&self) {
        self.core.run();
        self.goes_on();
    }
}

impl Drop for LocalScheduler {
    /// Tells its workers to end, and drives them until they have.
    fn drop(&mut self) {
        self.handle.terminate();
        self.run();
    }
}

impl fmt::Debug for LocalScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalScheduler").field(&self.handle).finish()
    }
}

/// A worker that was refused, and the reason.
#[derive(Debug)]
pub struct AddError {
    /// The worker, unchanged.
    pub worker: Worker,
    /// The reason.
    pub reason: Unfit,
}

/// The reason why a worker cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// The scheduler has been terminated.
    Terminated,
    /// A worker with its own `run` and without a fiber must be alone in its scheduler.
    NotAlone,
    /// It lists data of one type twice, or receives a type of task that it lists already.
    ListedTwice(&'static str),
    /// It receives tasks of this type, and has no `run` of its own to do so.
    NeverReceived(&'static str),
    /// Another worker of the engine owns data of this type.
    Owned(&'static str),
    /// A function takes data that the worker does not list.
    Unlisted {
        /// A task's type, or `setup`.
        function: &'static str,
        /// The data.
        data: Request,
    },
    /// Two parameters of a function exclude each other.
    Conflict {
        /// A task's type, or `setup`.
        function: &'static str,
        /// The one.
        first: Request,
        /// The other.
        second: Request,
    },
    /// A function changes data of another scheduler, which it must only read.
    ReadOnly {
        /// A task's type, or `setup`.
        function: &'static str,
        /// The data.
        data: Request,
    },
    /// `setup_owner` takes data that the worker does not own.
    NotOwn(Request),
    /// It must run after workers of this name, and these, perhaps through others, after it.
    Circle(String),
}

texts! {
    Unfit {
        Terminated {} => "the scheduler has been terminated",
        NotAlone {} =>
            "a worker with its own `run` and without a fiber must be alone in its scheduler",
        ListedTwice(name) => "it lists {name} twice",
        NeverReceived(task) => "it receives {task}, and has no `run` of its own that could",
        Owned(data) => "another worker owns {data}",
        Unlisted { function, data } => "{function} takes {data}, which the worker does not list",
        Conflict { function, first, second } => "{function} takes {first} and {second} at once",
        ReadOnly { function, data } =>
            "{function} takes {data}, which is shared: it may only be read",
        NotOwn(data) => "`setup_owner` takes {data}, which the worker does not own",
        Circle(other) => "it runs after {other}, which runs after it",
    }
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.worker.spec.name, self.reason)
    }
}

impl Error for AddError {}
