//! Threads that are reserved for bound tasks.

use std::error::Error;
use std::{fmt, io};

use filch_sync::Arc;

use crate::pool::processors::Processors;
use crate::protocol::state::synced::{BoundId, MAX_BOUND};

/// A thread that runs the tasks that are bound to it, and nothing else: made by
/// [`Processors::reserve_thread`].
///
/// When it is dropped the thread is released. What waits for it then it still runs; after that it
/// is an ordinary thread, and a task that still names it runs on whichever thread finds it. Nothing
/// is lost.
#[must_use = "a thread that is released at once runs nothing"]
pub struct BoundThread<T: Send + 'static> {
    pool: Arc<Processors<T>>,
    id: BoundId,
}

impl<T: Send + 'static> BoundThread<T> {
    /// Returns what [`Runner::bound_to`](crate::Runner::bound_to) answers for the tasks that are to
    /// run on this thread.
    pub fn id(&self) -> BoundId {
        self.id
    }
}

impl<T: Send + 'static> Drop for BoundThread<T> {
    fn drop(&mut self) {
        let shared = &self.pool.shared;
        let close = || shared.bound_tasks.is_done(self.id, true);
        shared.coordinator.unbind(self.id, close);
    }
}

impl<T: Send + 'static> fmt::Debug for BoundThread<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoundThread").field(&self.id).finish()
    }
}

/// The reason why no thread could be reserved.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReserveError {
    /// The pool has not been started.
    NotRunning,
    /// The pool has been stopped.
    Stopped,
    /// No more threads can be reserved. (Or a moment ago: threads that were released may not have
    /// exited yet.)
    Limit {
        /// The largest number of reserved threads.
        limit: usize,
    },
    /// The system refused a thread.
    Thread(io::Error),
}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRunning => f.write_str("the pool has not been started"),
            Self::Stopped => f.write_str("the pool has been stopped"),
            Self::Limit { limit } => write!(
                f,
                "{limit} threads are reserved, which is the most that may be: release one"
            ),
            Self::Thread(error) => write!(f, "the system refused a thread ({error})"),
        }
    }
}

impl Error for ReserveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Starts a thread for tasks that must all run on one: because a library wants to be called
    /// from the thread that it was opened on, or keeps something in thread-local storage. A task is
    /// bound to it if [`Runner::bound_to`](crate::Runner::bound_to) says so.
    ///
    /// A bound task is scheduled and found like any other. The thread that has found it calls this
    /// one, which gets an idle processor, or that thread's; when this one has no more tasks, or one
    /// of them makes a [`blocking`](Self::blocking) call, it gives the processor away. If this one
    /// is busy, or in a blocking call, the tasks that are found for it meanwhile wait, first in,
    /// first out: no other thread may run them, even if a processor is idle.
    ///
    /// The thread does not count for [`Config::thread_limit`](crate::Config::thread_limit), or the
    /// blocking calls for which that has been chosen would find none left; at most 256 can be
    /// reserved at a time. It is released by dropping what this returns. It need not be released
    /// before the pool is stopped; it exits when all tasks have run.
    ///
    /// If the runner panics when it is to make the thread's [scratch](crate::Runner::scratch), the
    /// thread is released.
    ///
    /// A bound task costs the wake-up of a sleeping thread, some five microseconds, if it has no
    /// other one.
    ///
    /// # Errors
    /// See [`ReserveError`].
    pub fn reserve_thread(pool: &Arc<Self>) -> Result<BoundThread<T>, ReserveError> {
        let _one_at_a_time = pool.lock_running(ReserveError::NotRunning, ReserveError::Stopped)?;
        let tasks = &pool.shared.bound_tasks;
        let mut opened = None;
        let bound = pool.shared.coordinator.bind(|id| {
            opened = Some(id);
            tasks.open(id);
        });
        if !matches!(bound, Ok(Some(_))) {
            // All others may have exited meanwhile, and relied on this one.
            pool.end_if_deserted();
        }
        match bound {
            Ok(Some(id)) => Ok(BoundThread {
                pool: Arc::clone(pool),
                id,
            }),
            Err(error) => {
                // Nothing is bound to it: nobody else knows the name.
                opened.and_then(|id| tasks.close(id));
                Err(ReserveError::Thread(error))
            }
            Ok(None) if pool.shared.coordinator.is_over() => Err(ReserveError::Stopped),
            Ok(None) => Err(ReserveError::Limit { limit: MAX_BOUND }),
        }
    }
}
