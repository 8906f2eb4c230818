//! The facts about a worker for other threads, and its handle for users.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use filch_sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use filch_sync::{Condvar, Mutex, lock, time, wait_until};

use crate::counter::Counter;
use crate::data::Request;
use crate::envelope::Envelope;
use crate::error::{CalledFromInside, Exit, RemoveError, SendError};
use crate::links::Links;
use crate::route::{Route, Task, TaskKind};
use crate::worker::spec::Spec;

/// The stage of a worker's life, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum Stage {
    /// Makes the data that it owns.
    MakesOwn,
    /// Sets up its own data, and lets others use it.
    SetsUpOwn,
    /// Makes its local data.
    MakesLocal,
    /// Waits for data of its scheduler.
    BindsGroup,
    /// Waits for data of other schedulers.
    BindsShared,
    /// Sets up its data.
    SetsUp,
    /// Runs its tasks, or its own `run`.
    Runs,
    /// Lets data of other schedulers go.
    UnbindsShared,
    /// Lets data of its scheduler go.
    UnbindsGroup,
    /// Drops its local data.
    DropsLocal,
    /// Destroys its own data, once nobody uses it.
    DropsOwn,
    /// Drops the remaining tasks.
    EmptiesQueue,
    /// It has ended.
    Gone,
}

const STAGES: [Stage; 13] = [
    Stage::MakesOwn,
    Stage::SetsUpOwn,
    Stage::MakesLocal,
    Stage::BindsGroup,
    Stage::BindsShared,
    Stage::SetsUp,
    Stage::Runs,
    Stage::UnbindsShared,
    Stage::UnbindsGroup,
    Stage::DropsLocal,
    Stage::DropsOwn,
    Stage::EmptiesQueue,
    Stage::Gone,
];

/// The thing that a worker waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitsFor {
    /// Data that somebody else uses.
    Lock(Request),
    /// Data that has no owner yet.
    Owner(&'static str),
    /// The end of all users of its own data.
    Users(&'static str),
    /// A task that it has sent.
    Task(&'static str),
    /// A task of that type that it receives.
    Receive(&'static str),
    /// A condition of its own.
    Condition,
    /// Another worker, which must run the task before.
    After,
}

impl WaitsFor {
    /// Returns whether the worker must be asked again and again: its scheduler is not woken when
    /// the thing has come.
    pub(crate) fn is_polled(&self) -> bool {
        !matches!(self, Self::Task(_) | Self::Receive(_))
    }
}

/// The facts about a worker for other threads.
#[derive(Default)]
pub(crate) struct Public {
    pub(crate) name: String,
    pub(crate) scheduler: usize,
    /// Its number in its engine.
    pub(crate) number: usize,
    /// The routes of its functions, and then of the types that it receives.
    pub(crate) lists: Vec<Route>,
    stage: AtomicU8,
    pub(crate) queued: AtomicUsize,
    /// The most tasks that may wait for it.
    pub(crate) room: usize,
    /// The names of the workers that run each task before it does.
    pub(crate) after: Vec<String>,
    pub(crate) ran: Counter,
    pub(crate) gave_way: Counter,
    /// The tasks that could not be cloned for it.
    pub(crate) missed: Counter,
    /// The tasks that came when as many waited as may.
    pub(crate) refused: Counter,
    /// The sets of data that its functions take, as far as they have been bound.
    takes: Mutex<Vec<Vec<Request>>>,
    /// The sets that it has locked, a bit for each of the first 64.
    pub(crate) holds: Counter,
    pub(crate) waits_for: Mutex<Option<WaitsFor>>,
    /// The reason for which others told it to end. They wake its scheduler.
    pub(crate) told: OnceLock<Exit>,
    exit: Mutex<Option<Exit>>,
    ended: Condvar,
}

impl Public {
    pub(crate) fn new(
        spec: &Spec,
        scheduler: usize,
        number: usize,
        lists: Vec<Route>,
    ) -> Arc<Self> {
        Arc::new(Self {
            name: spec.name.clone(),
            scheduler,
            number,
            lists,
            room: spec.room,
            after: spec.after.clone(),
            ..Self::default()
        })
    }

    pub(crate) fn stage(&self) -> Stage {
        // ORDERING: Relaxed: for people, and for its own thread.
        STAGES[usize::from(self.stage.load(Ordering::Relaxed))]
    }

    pub(crate) fn enter(&self, stage: Stage) {
        // ORDERING: Relaxed: as above.
        self.stage.store(stage as u8, Ordering::Relaxed);
    }

    /// Returns whether as many tasks wait for it as may.
    pub(crate) fn is_full(&self) -> bool {
        // ORDERING: Relaxed: exact on its own thread, and a hint on others.
        self.queued.load(Ordering::Relaxed) >= self.room
    }

    /// Returns the bit for a function that takes that data.
    pub(crate) fn bit_of(&self, requests: &[Option<Request>]) -> u64 {
        let set: Vec<_> = requests.iter().flatten().copied().collect();
        let mut takes = lock(&self.takes);
        let known = takes.iter().position(|known| *known == set);
        let number = known.unwrap_or(takes.len());
        if number == takes.len() {
            takes.push(set);
        }
        1_u64.checked_shl(number as u32).unwrap_or(0)
    }

    /// Returns the data that it has locked.
    pub(crate) fn held(&self) -> Vec<Request> {
        let bits = self.holds.get();
        let takes = lock(&self.takes);
        let sets = takes.iter().take(64).enumerate();
        let held = sets.filter(|(number, _)| bits & 1 << number != 0);
        held.flat_map(|(_, set)| set).copied().collect()
    }

    /// Returns whether it lists that type of task.
    pub(crate) fn lists_task(&self, kind: TaskKind) -> bool {
        self.lists.iter().any(|own| own.kind == kind)
    }

    pub(crate) fn exit(&self) -> Option<Exit> {
        lock(&self.exit).clone()
    }

    /// Marks the worker as ended.
    pub(crate) fn end(&self, exit: Exit) {
        *lock(&self.exit) = Some(exit);
        self.ended.notify_all();
    }

    /// Blocks until it has ended, for at most `timeout`.
    pub(crate) fn join_timeout(&self, timeout: Duration) -> Option<Exit> {
        // A deadline that no clock can show never comes.
        let deadline = time::now().checked_add(timeout);
        let mut exit = lock(&self.exit);
        let mut is_over = false;
        while exit.is_none() && !is_over {
            (exit, is_over) = wait_until(&self.ended, &self.exit, exit, deadline);
        }
        exit.clone()
    }
}

/// A worker that was added. Dropping it changes nothing.
#[derive(Clone)]
pub struct WorkerHandle {
    pub(crate) public: Arc<Public>,
    /// The way to its scheduler.
    pub(crate) links: Arc<Links>,
}

impl WorkerHandle {
    /// Returns the name that it was given.
    pub fn name(&self) -> &str {
        &self.public.name
    }

    /// Returns the stage of its life.
    pub fn stage(&self) -> Stage {
        self.public.stage()
    }

    /// Returns the reason of its end, if it has ended.
    pub fn exit(&self) -> Option<Exit> {
        self.public.exit()
    }

    /// Blocks until it has ended.
    ///
    /// # Errors
    /// [`CalledFromInside`], unless it has ended.
    pub fn join(&self) -> Result<Exit, CalledFromInside> {
        let exit = self.join_timeout(Duration::MAX)?;
        Ok(exit.unwrap_or_else(|| unreachable!("such a deadline never comes")))
    }

    /// As [`join`](Self::join), for at most `timeout`: `None` if it has not ended then.
    ///
    /// # Errors
    /// [`CalledFromInside`], unless it has ended.
    pub fn join_timeout(&self, timeout: Duration) -> Result<Option<Exit>, CalledFromInside> {
        let exit = self.exit();
        if exit.is_some() {
            return Ok(exit);
        }
        self.links.check_outside()?;
        Ok(self.public.join_timeout(timeout))
    }

    /// Tells it to end. It does so by itself, later: see [`join`](Self::join).
    ///
    /// # Errors
    /// If it or its whole scheduler was told to end before, or it has ended.
    pub fn remove(&self) -> Result<(), RemoveError> {
        if self.public.exit().is_some() {
            return Err(RemoveError::Ended);
        }
        if self.public.told.set(Exit::Removed).is_err() {
            return Err(RemoveError::Ending);
        }
        self.links.wake_each(1 << self.public.scheduler);
        Ok(())
    }

    /// Sends a pinned task, to this worker alone; it runs on the worker's thread. Lock-free, except
    /// for the check that the worker lists it.
    ///
    /// # Errors
    /// The task, if the worker does not list its type, has ended, or is full: see
    /// [`Worker::room`](crate::Worker::room). A task that finds it full later is dropped.
    pub fn send<T: Task>(&self, task: T) -> Result<(), SendError<T>> {
        let route = self.links.routes.route::<T>();
        if !self.public.lists_task(route.kind) {
            return Err(SendError::Unlisted(task));
        }
        if self.public.exit().is_some() {
            return Err(SendError::Ended(task));
        }
        if self.public.is_full() {
            return Err(SendError::Full(task));
        }
        let envelope = Envelope::new(route.kind, task);
        let (scheduler, number) = (self.public.scheduler, self.public.number);
        let sent = self.links.send_to(scheduler, number, envelope);
        sent.map_err(|envelope| SendError::Ended(envelope.into_task()))
    }
}

impl fmt::Debug for WorkerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerHandle")
            .field("name", &self.name())
            .field("stage", &self.stage())
            .field("exit", &self.exit())
            .finish_non_exhaustive()
    }
}
