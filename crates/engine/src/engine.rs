//! The engine: its schedulers, and who comes and goes.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use filch_parker::Parker;
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Mutex, lock};

use crate::completion::{Completed, Completion};
use crate::data::owners::Owners;
use crate::data::table::Role;
use crate::error::{AddError, StartError, Unfit};
use crate::message::Message;
use crate::report::{Report, SchedulerReport, WorkerReport};
use crate::route::{MAX_SCHEDULERS, Route, Routes};
use crate::scheduler::core::Core;
use crate::scheduler::handle::{LocalScheduler, Scheduler};
use crate::scheduler::stats::Stats;
use crate::task::{Envelope, Task};
use crate::worker::handle::WorkerHandle;
use crate::worker::public::Public;
use crate::worker::spec::Worker;

/// What the schedulers of an engine share.
pub(crate) struct Shared {
    pub(crate) routes: Arc<Routes>,
    pub(crate) owners: Owners,
    /// Who is there. Taken when schedulers and workers come and go, never for a task.
    members: Mutex<Members>,
    next_worker: AtomicUsize,
}

#[derive(Default)]
struct Members {
    is_terminated: bool,
    schedulers: Vec<Member>,
    threads: Vec<JoinHandle<()>>,
}

/// A scheduler, as the engine keeps it.
struct Member {
    name: String,
    /// No worker may be added any more.
    is_terminated: bool,
    /// Its loop has ended.
    is_over: bool,
    stats: Arc<Stats>,
    workers: Vec<Arc<Public>>,
    /// Its worker must be alone.
    is_exclusive: bool,
    /// Of each kind of task that its workers list: how many of them do.
    listed: HashMap<usize, usize>,
}

impl Shared {
    /// Adds a worker that fits.
    pub(crate) fn add(
        self: &Arc<Self>,
        scheduler: usize,
        mut worker: Worker,
    ) -> Result<WorkerHandle, AddError> {
        let routes: Vec<Arc<Route>> = {
            let handlers = worker.spec.handlers.iter();
            handlers.map(|task| (task.route)(&self.routes)).collect()
        };
        let mut members = lock(&self.members);
        let member = &mut members.schedulers[scheduler];
        let is_exclusive = worker.spec.run.is_some() && worker.spec.fiber.is_none();
        let reason = if member.is_terminated {
            Some(Unfit::Terminated)
        } else if member.is_exclusive || is_exclusive && !member.workers.is_empty() {
            Some(Unfit::NotAlone)
        } else {
            let owned = worker
                .spec
                .data
                .iter()
                .filter(|data| data.role == Role::Owner);
            let (ids, names): (Vec<_>, Vec<_>) = owned.map(|data| (data.id, data.name)).unzip();
            let taken = self.owners.announce(scheduler, &ids);
            taken.err().map(|taken| Unfit::Owned(names[taken]))
        };
        if let Some(reason) = reason {
            return Err(AddError { worker, reason });
        }
        // ORDERING: Relaxed: a number, under the lock.
        let number = self.next_worker.fetch_add(1, Ordering::Relaxed);
        let name = worker.spec.name.clone();
        let public = Public::new(name, scheduler, number, routes);
        worker.spec.public = Some(Arc::clone(&public));
        let handle = WorkerHandle {
            public: Arc::clone(&public),
            routes: Arc::clone(&self.routes),
        };
        // The worker comes before its first task: it is in the queue when its routes are known.
        if self
            .routes
            .link(scheduler)
            .send(Message::Add(worker.spec))
            .is_err()
        {
            unreachable!("a scheduler that is not terminated has its queue");
        }
        for route in &public.lists {
            *member.listed.entry(route.kind.0).or_default() += 1;
            route.list(scheduler);
        }
        member.is_exclusive = is_exclusive;
        member.workers.push(public);
        Ok(handle)
    }

    /// A worker has ended.
    pub(crate) fn left(&self, public: &Arc<Public>) {
        let mut members = lock(&self.members);
        let member = &mut members.schedulers[public.scheduler];
        member.workers.retain(|other| !Arc::ptr_eq(other, public));
        member.is_exclusive = false;
        for route in &public.lists {
            let left = member.listed.entry(route.kind.0).or_insert(1);
            *left -= 1;
            if *left == 0 {
                route.unlist(public.scheduler);
            }
        }
    }

    pub(crate) fn terminate(&self, scheduler: usize) {
        let mut members = lock(&self.members);
        let member = &mut members.schedulers[scheduler];
        if !std::mem::replace(&mut member.is_terminated, true) {
            // Refused only by one whose loop has ended.
            let _ = self.routes.link(scheduler).send(Message::Terminate);
        }
    }

    pub(crate) fn is_over(&self, scheduler: usize) -> bool {
        lock(&self.members).schedulers[scheduler].is_over
    }

    pub(crate) fn is_over_now(&self, scheduler: usize) {
        lock(&self.members).schedulers[scheduler].is_over = true;
    }

    pub(crate) fn name_of(&self, scheduler: usize) -> String {
        lock(&self.members).schedulers[scheduler].name.clone()
    }
}

/// Schedulers that drive workers over shared data. See the [crate](crate).
///
/// Clones are one engine. Dropped, it changes nothing: [`terminate`](Self::terminate) ends it.
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

    /// One without schedulers.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared {
                routes: Arc::new(Routes::new()),
                owners: Owners::default(),
                members: Mutex::default(),
                next_worker: AtomicUsize::new(0),
            }),
        }
    }

    /// Starts a scheduler in a thread of its own, which has that name. It lives without workers.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn scheduler(&self, name: impl Into<String>) -> Result<Scheduler, StartError> {
        let (handle, stats) = self.enlist(name.into())?;
        let (shared, number) = (Arc::clone(&self.shared), handle.number);
        let (started, has_started) = std::sync::mpsc::channel();
        let drive = {
            let handle = handle.clone();
            move || {
                let local = LocalScheduler::new(Core::new(number, stats, &shared), handle);
                // The engine's thread waits for it below.
                let _ = started.send(());
                local.run();
            }
        };
        let builder = thread::Builder::new().name(self.shared.name_of(number));
        match builder.spawn(drive) {
            Ok(thread) => {
                lock(&self.shared.members).threads.push(thread);
                // Nothing can be sent to it before.
                let _ = has_started.recv();
                Ok(handle)
            }
            Err(error) => {
                let mut members = lock(&self.shared.members);
                let member = &mut members.schedulers[number];
                (member.is_terminated, member.is_over) = (true, true);
                Err(StartError::Thread(error))
            }
        }
    }

    /// A scheduler that the calling thread drives: see [`LocalScheduler::update`].
    ///
    /// # Errors
    /// [`StartError`].
    pub fn local_scheduler(&self, name: impl Into<String>) -> Result<LocalScheduler, StartError> {
        let (handle, stats) = self.enlist(name.into())?;
        let core = Core::new(handle.number, stats, &self.shared);
        Ok(LocalScheduler::new(core, handle))
    }

    fn enlist(&self, name: String) -> Result<(Scheduler, Arc<Stats>), StartError> {
        let stats = Arc::new(Stats::default());
        let mut members = lock(&self.shared.members);
        if members.is_terminated {
            return Err(StartError::Terminated);
        }
        let number = members.schedulers.len();
        if number == MAX_SCHEDULERS {
            return Err(StartError::TooMany);
        }
        members.schedulers.push(Member {
            name,
            is_terminated: false,
            is_over: false,
            stats: Arc::clone(&stats),
            workers: Vec::new(),
            is_exclusive: false,
            listed: HashMap::new(),
        });
        let shared = Arc::clone(&self.shared);
        Ok((Scheduler { number, shared }, stats))
    }

    /// Sends a task to every worker, of every scheduler, that lists its type: it runs there later.
    /// How many schedulers it went to; none, and it is dropped.
    ///
    /// Looks its type up, under a lock that is held for a moment; for a stream of tasks keep a
    /// [`sender`](Self::sender).
    ///
    /// # Panics
    /// If the task's `clone` does. Then it has reached some of them.
    pub fn broadcast<T: Task>(&self, task: T) -> usize {
        self.sender().send(task)
    }

    /// The same, and blocks until the last of them has run it, or dropped it as it ended. Not for
    /// the thread of a scheduler, which may be one of them: workers have
    /// [`Context::complete`](crate::Context::complete).
    ///
    /// # Panics
    /// If the task's `clone` does.
    pub fn complete<T: Task>(&self, task: T) -> Completed {
        let parker = Parker::new();
        let (completion, sending) = Completion::new(parker.unparker());
        let route = self.shared.routes.route::<T>();
        let envelope = Envelope::new(route.kind, task, Some(sending.copy()));
        self.shared.routes.broadcast(&route, envelope);
        drop(sending);
        loop {
            parker.park();
            if let Some(completed) = completion.poll() {
                return completed;
            }
        }
    }

    /// Sends tasks of one type.
    pub fn sender<T: Task>(&self) -> TaskSender<T> {
        TaskSender {
            route: self.shared.routes.route::<T>(),
            routes: Arc::clone(&self.shared.routes),
            task: PhantomData,
        }
    }

    /// Terminates all schedulers. It does nothing the second time.
    pub fn terminate(&self) {
        let schedulers = {
            let mut members = lock(&self.shared.members);
            members.is_terminated = true;
            members.schedulers.len()
        };
        (0..schedulers).for_each(|scheduler| self.shared.terminate(scheduler));
    }

    /// Blocks until the threads of the schedulers have ended, which were terminated before. Not for
    /// one of those threads. A [local](Self::local_scheduler) scheduler has none.
    pub fn join(&self) {
        loop {
            let thread = lock(&self.shared.members).threads.pop();
            match thread {
                // Workers' panics are contained, and there is no other code of the user's.
                Some(thread) => drop(thread.join()),
                None => return,
            }
        }
    }

    /// What each worker does at present. It stops nobody, so one that goes on meanwhile may be shown
    /// in between; what hangs is shown as it is.
    pub fn report(&self) -> Report {
        let members = lock(&self.shared.members);
        let schedulers = members.schedulers.iter().map(|member| SchedulerReport {
            name: member.name.clone(),
            is_terminated: member.is_terminated,
            rounds: member.stats.rounds(),
            rests: member.stats.rests(),
            workers: member
                .workers
                .iter()
                .map(|worker| WorkerReport::of(worker))
                .collect(),
        });
        Report {
            schedulers: schedulers.collect(),
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engine").field(&self.report()).finish()
    }
}

/// Sends tasks of one type to all workers that list it.
pub struct TaskSender<T> {
    route: Arc<Route>,
    routes: Arc<Routes>,
    task: PhantomData<fn(T)>,
}

impl<T: Task> TaskSender<T> {
    /// To how many schedulers it went; none, and it is dropped. Lock-free.
    ///
    /// What the caller did before happens before the task runs.
    ///
    /// # Panics
    /// If the task's `clone` does. Then it has reached some of them.
    pub fn send(&self, task: T) -> usize {
        if !self.route.is_listed() {
            return 0;
        }
        let envelope = Envelope::new(self.route.kind, task, None);
        self.routes.broadcast(&self.route, envelope)
    }
}

impl<T> Clone for TaskSender<T> {
    fn clone(&self) -> Self {
        Self {
            route: Arc::clone(&self.route),
            routes: Arc::clone(&self.routes),
            task: PhantomData,
        }
    }
}

impl<T> fmt::Debug for TaskSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskSender").field(&self.route.name).finish()
    }
}
