//! A worker, for its users.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::envelope::Envelope;
use crate::error::{CalledFromInside, RemoveError, SendError};
use crate::exit::Exit;
use crate::links::Links;
use crate::task::Task;
use crate::worker::public::{Public, Stage};

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
        let route = self.links.routes().route::<T>();
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
        let Public {
            scheduler, number, ..
        } = *self.public;
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
