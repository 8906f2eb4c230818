//! The pool of the calling thread, or else the global pool; and its time for another job.

use filch_fork_join::{OncePool, Pool, Worker};

use crate::builder::ThreadPoolBuilder;
use crate::error::{Reason, ThreadPoolBuildError};
use crate::threads::ThreadSpawn;

static GLOBAL: OncePool = OncePool::new();

/// Returns the global pool, which it builds if there is none.
///
/// # Panics
/// If it cannot be built.
pub(crate) fn pool() -> &'static Pool {
    match GLOBAL.get_or_start(|| ThreadPoolBuilder::new().start()) {
        Ok(pool) => pool,
        Err(error) => panic!("the global thread pool cannot be built: {error}"),
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Builds the global pool, which runs everything that is called outside of a pool. Without this
    /// the first such call builds it as [`new`](ThreadPoolBuilder::new) says.
    ///
    /// # Errors
    /// If there is a global pool; and as [`build`](Self::build): then there is none, and it can be
    /// tried again.
    ///
    /// # Panics
    /// As [`build`](Self::build).
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        match GLOBAL.start(|| self.start()) {
            Ok(built) => built.map(|_| ()),
            Err(_) => Err(Reason::GlobalPoolIsThere.into()),
        }
    }
}

/// Calls `work` with the worker of the calling thread, or on one of the global pool.
#[inline(always)]
pub(crate) fn on_worker<R: Send>(work: impl FnOnce(&Worker) -> R + Send) -> R {
    Worker::current(|worker| match worker {
        Some(worker) => work(worker),
        None => on_global(work),
    })
}

#[cold]
pub(crate) fn on_global<R: Send>(work: impl FnOnce(&Worker) -> R + Send) -> R {
    pool().install(work)
}

/// Returns the number of threads in the calling thread's pool; in the global pool, if it has none.
///
/// # Panics
/// If there is no global pool, and none can be built.
pub fn current_num_threads() -> usize {
    Worker::current(|worker| worker.map(Worker::threads)).unwrap_or_else(|| pool().threads())
}

/// Returns the index of the calling thread in its pool; `None` if it has none.
#[inline]
pub fn current_thread_index() -> Option<usize> {
    Worker::current(|worker| worker.map(Worker::index))
}

/// Returns whether the calling thread has jobs that have not begun, which others may steal at any
/// time; `None` if it belongs to no pool.
#[inline]
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    Worker::current(|worker| worker.map(Worker::has_jobs))
}

/// The outcome of a call of [`yield_now`] or [`yield_local`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// A job was run.
    Executed,
    /// There was none.
    Idle,
}

impl Yield {
    pub(crate) fn of(executed: bool) -> Self {
        if executed { Self::Executed } else { Self::Idle }
    }
}

/// Runs one job of the thread's pool that has not begun, if there is one, and others if that waits.
/// Returns `None` if the thread belongs to no pool.
pub fn yield_now() -> Option<Yield> {
    Worker::current(|worker| worker.map(|worker| Yield::of(worker.yield_now())))
}

/// As [`yield_now`], with the calling thread's own jobs only.
pub fn yield_local() -> Option<Yield> {
    Worker::current(|worker| worker.map(|worker| Yield::of(worker.yield_local())))
}
