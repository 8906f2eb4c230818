//! Work that each thread of a pool does once.

use std::fmt;
use std::marker::PhantomData;

use filch_fork_join::Worker;

use crate::global;

/// Calls `work` once on each thread of the caller's pool, or of the global pool, and returns the
/// results, by the threads' indices. A thread in the middle of a job makes the call when it waits,
/// or when the job has ended.
///
/// ```
/// let indices = rayon_core::broadcast(|context| context.index());
/// assert!(indices.into_iter().eq(0..rayon_core::current_num_threads()));
/// ```
///
/// # Panics
/// If a call panics, after all have ended.
pub fn broadcast<OP, R>(work: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    Worker::current(|worker| match worker {
        Some(worker) => worker.broadcast(|worker| work(BroadcastContext::of(worker))),
        None => global::pool().broadcast(|worker| work(BroadcastContext::of(worker))),
    })
}

/// Runs `job` once on each thread of the caller's pool, or of the global pool. The caller does not
/// wait.
///
/// Its panics go to the pool's [handler](crate::ThreadPoolBuilder::panic_handler), and abort the
/// process if there is none.
///
/// # Panics
/// If there is no global pool, and none can be built.
pub fn spawn_broadcast<OP>(job: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    Worker::current(|worker| match worker {
        Some(worker) => worker.spawn_broadcast(move |worker| job(BroadcastContext::of(worker))),
        None => global::pool().spawn_broadcast(move |worker| job(BroadcastContext::of(worker))),
    });
}

/// The argument of each call of [`broadcast`].
pub struct BroadcastContext<'a> {
    worker: &'a Worker,
    /// Keeps it on its thread.
    thread: PhantomData<&'a mut dyn Fn()>,
}

impl<'a> BroadcastContext<'a> {
    pub(crate) fn of(worker: &'a Worker) -> Self {
        Self {
            worker,
            thread: PhantomData,
        }
    }

    /// Returns the index of the thread.
    #[inline]
    pub fn index(&self) -> usize {
        self.worker.index()
    }

    /// Returns the number of threads that make the call.
    #[inline]
    pub fn num_threads(&self) -> usize {
        self.worker.threads()
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("index", &self.index())
            .field("num_threads", &self.num_threads())
            .finish()
    }
}
