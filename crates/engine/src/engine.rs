//! The engine, for its users.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io, thread};

use filch_parker::Parker;
use filch_sync::time;

use crate::completion::{Completed, Completion, Part};
use crate::envelope::Envelope;
use crate::error::{CalledFromInside, StartError, WaitError};
use crate::links::Links;
use crate::report::Report;
use crate::route::{MAX_SCHEDULERS, Route, Task};
use crate::scheduler::handle::{LocalScheduler, Scheduler};
use crate::shared::Shared;

/// Schedulers that drive workers over shared data. See the [crate](crate).
///
/// Clones are one engine. Dropping it changes nothing: [`terminate`](Self::terminate) ends it.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// The most schedulers of an engine, over its whole life.
    pub const MAX_SCHEDULERS: usize = MAX_SCHEDULERS;

    /// The default number of rounds without work after which a scheduler blocks.
    pub const ROUNDS_BEFORE_REST: u32 = 16;

    /// Makes an engine without schedulers.
    pub fn new() -> Self {
        Self::with_rounds_before_rest(Self::ROUNDS_BEFORE_REST)
    }

    /// As [`new`](Self::new), with schedulers that block after `rounds` rounds without work. After
    /// the first four they pause, after the others they let other threads run. More rounds find a
    /// task that comes soon without a wake-up, and cost processor time.
    pub fn with_rounds_before_rest(rounds: u32) -> Self {
        Self {
            shared: Arc::new(Shared::new(rounds)),
        }
    }

    /// Starts a scheduler in a thread of that name. It lives on without workers.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn scheduler(&self, name: impl Into<String>) -> Result<Scheduler, StartError> {
        let name = name.into();
        if name.contains('\0') {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "a name with a null byte");
            return Err(StartError::Thread(error));
        }
        let place = self.shared.register(name.clone())?;
        let handle = self.handle(place.number);
        let drive = {
            let handle = handle.clone();
            move || LocalScheduler::new(place, handle).run()
        };
        match thread::Builder::new().name(name).spawn(drive) {
            Ok(thread) => {
                self.shared.keep_thread(handle.number, thread);
                Ok(handle)
            }
            Err(error) => {
                self.shared.is_over_now(handle.number);
                Err(StartError::Thread(error))
            }
        }
    }

    /// Calls `drive` with a scheduler that the calling thread drives: see
    /// [`LocalScheduler::update`]. After its return, the scheduler's workers are told to end, and
    /// driven until they have.
    ///
    /// It is lent so that no thread drops it at its own end: a fiber may be in the middle of
    /// `LocalKey::with`, and would go on with a thread-local that is gone.
    ///
    /// A thread may drive several, one inside the other. While the inner one ends, the outer one's
    /// workers have no turns: if one of them has locked data of the inner one and waits, the inner
    /// one never ends.
    ///
    /// # Errors
    /// [`StartError`].
    ///
    /// # Panics
    /// If `drive` panics, once the workers have ended.
    pub fn local_scheduler<R>(
        &self,
        name: impl Into<String>,
        drive: impl FnOnce(&LocalScheduler) -> R,
    ) -> Result<R, StartError> {
        let place = self.shared.register(name.into())?;
        let handle = self.handle(place.number);
        let local = LocalScheduler::new(place, handle);
        let driven = catch_unwind(AssertUnwindSafe(|| drive(&local)));
        // Not during a panic of this thread: its workers would take that for their own.
        drop(local);
        driven.map_or_else(|panic| resume_unwind(panic), Ok)
    }

    fn handle(&self, number: usize) -> Scheduler {
        let shared = Arc::clone(&self.shared);
        Scheduler { number, shared }
    }

    /// Sends a task to every worker, of every scheduler, that lists its type: it runs there later.
    /// Returns the number of schedulers reached; if none, the task is dropped.
    ///
    /// It looks up the type under a short lock; for a stream of tasks keep a
    /// [`sender`](Self::sender).
    ///
    /// # Panics
    /// If the task's `clone` panics. Then it has reached some of them.
    pub fn broadcast<T: Task>(&self, task: T) -> usize {
        self.sender().send(task)
    }

    /// As [`broadcast`](Self::broadcast), and blocks until the last worker has run it, or dropped
    /// it. Workers have [`Context::complete`](crate::Context::complete).
    ///
    /// # Errors
    /// [`WaitError::CalledFromInside`], with the task.
    ///
    /// # Panics
    /// If the task's `clone` panics.
    pub fn complete<T: Task>(&self, task: T) -> Result<Completed, WaitError<T>> {
        self.complete_timeout(task, Duration::MAX)
    }

    /// As [`complete`](Self::complete), for at most `timeout`.
    ///
    /// # Errors
    /// [`WaitError::CalledFromInside`], with the task; [`WaitError::TimedOut`].
    ///
    /// # Panics
    /// If the task's `clone` panics.
    pub fn complete_timeout<T: Task>(
        &self,
        task: T,
        timeout: Duration,
    ) -> Result<Completed, WaitError<T>> {
        if self.shared.links.check_outside().is_err() {
            return Err(WaitError::CalledFromInside(task));
        }
        // A deadline that no clock can show never comes.
        let deadline = time::now().checked_add(timeout);
        let parker = Parker::new();
        let (completion, sending) = Completion::new(parker.unparker());
        let TaskSender { route, links, .. } = self.sender::<T>();
        let envelope = Envelope::tracked(route.kind, task, sending.copy());
        links.broadcast(&route, envelope);
        drop(sending);
        loop {
            let is_in_time = deadline.is_none_or(|deadline| time::now() < deadline);
            match (completion.poll(), deadline) {
                (Some(completed), _) => return Ok(completed),
                (None, _) if !is_in_time => return Err(WaitError::TimedOut),
                (None, None) => parker.park(),
                (None, Some(deadline)) => drop(parker.park_deadline(deadline)),
            }
        }
    }

    /// Returns a sender of tasks of one type.
    pub fn sender<T: Task>(&self) -> TaskSender<T> {
        TaskSender {
            route: self.shared.links.routes.route::<T>(),
            links: Arc::clone(&self.shared.links),
            task: PhantomData,
        }
    }

    /// Terminates all schedulers. The second call does nothing.
    pub fn terminate(&self) {
        self.shared.terminate_all();
    }

    /// Blocks until the threads of the terminated schedulers have ended. A
    /// [local](Self::local_scheduler) scheduler has none.
    ///
    /// # Errors
    /// [`CalledFromInside`].
    pub fn join(&self) -> Result<(), CalledFromInside> {
        self.shared.links.check_outside()?;
        self.shared.join();
        Ok(())
    }

    /// Returns the present state of each worker. It stops none, so a busy worker may be shown
    /// between two states; a hanging one is shown as it is.
    pub fn report(&self) -> Report {
        self.shared.report()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engine").field(&self.report()).finish()
    }
}

/// Sends tasks of one type to all workers that list it.
pub struct TaskSender<T> {
    route: Route,
    links: Arc<Links>,
    task: PhantomData<fn(T)>,
}

impl<T: Task> TaskSender<T> {
    /// Sends a task; returns the number of schedulers reached. If none, it is dropped. Lock-free.
    ///
    /// Everything that the caller did before happens before the task runs.
    ///
    /// # Panics
    /// If the task's `clone` panics. Then it has reached some of them.
    pub fn send(&self, task: T) -> usize {
        let envelope = Envelope::new(self.route.kind, task);
        self.links.broadcast(&self.route, envelope)
    }
}

impl<T> Clone for TaskSender<T> {
    fn clone(&self) -> Self {
        Self {
            route: self.route.clone(),
            links: Arc::clone(&self.links),
            task: PhantomData,
        }
    }
}

impl<T> fmt::Debug for TaskSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskSender").field(&self.route.name).finish()
    }
}
