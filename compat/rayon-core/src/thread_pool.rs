//! A pool that a program builds for itself.

use std::{fmt, thread};

use filch_fork_join::{Pool, Worker};

use crate::broadcast::BroadcastContext;
use crate::builder::ThreadPoolBuilder;
use crate::error::ThreadPoolBuildError;
use crate::global::Yield;
use crate::join::join;
use crate::scope::{Scope, scope};
use crate::scope_fifo::{ScopeFifo, scope_fifo};
use crate::spawn;
use crate::threads::{ThreadBuilder, ThreadSpawn};

/// A pool of threads that run jobs. [`ThreadPoolBuilder`] builds it.
///
/// Calls within a job of it, such as [`join()`](crate::join()), run on it.
///
/// Dropping it does not wait for its threads: they run all spawned jobs, then exit.
pub struct ThreadPool(Pool);

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Builds a pool.
    ///
    /// # Errors
    /// If a thread cannot be made, or the spawn handler refuses one: then the others exit. If the
    /// calling thread should be part of it, and belongs to a pool.
    ///
    /// # Panics
    /// If the closure for the names panics, or the spawn handler: threads that were made exit.
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        self.start().map(ThreadPool)
    }
}

impl ThreadPoolBuilder {
    /// Builds a pool whose threads may borrow data that outlives this call. Returns the result of
    /// `with_pool` when the pool is dropped and its threads have exited. Each thread calls
    /// `wrapper`, which must call [`ThreadBuilder::run`].
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let threads = AtomicUsize::new(0);
    /// let sum = rayon_core::ThreadPoolBuilder::new().num_threads(2).build_scoped(
    ///     |thread| {
    ///         threads.fetch_add(1, Ordering::Relaxed);
    ///         thread.run();
    ///     },
    ///     |pool| pool.install(|| 1 + 2),
    /// )?;
    /// assert_eq!((sum, threads.into_inner()), (3, 2));
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    ///
    /// # Errors
    /// As [`build`](Self::build).
    ///
    /// # Panics
    /// If `with_pool` panics, or a `wrapper`.
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        let wrapper = &wrapper;
        thread::scope(|scope| {
            let spawn = |thread: ThreadBuilder| {
                let builder = thread.to_std();
                builder.spawn_scoped(scope, move || wrapper(thread))?;
                Ok(())
            };
            let pool = self.spawn_handler(spawn).build()?;
            Ok(with_pool(&pool))
        })
    }
}

impl ThreadPool {
    /// Runs `work` on a thread of the pool, and returns its result: here and now if the calling
    /// thread is one. A thread of another pool runs jobs of its own pool meanwhile; any other
    /// thread sleeps.
    ///
    /// Everything before this call happens before `work`, which happens before the return.
    ///
    /// # Panics
    /// If `work` panics.
    pub fn install<OP, R>(&self, work: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.0.install(|_| work())
    }

    /// Calls `work` once on each thread of the pool, and returns the results, by the threads'
    /// indices.
    ///
    /// # Panics
    /// If a call panics, after all have ended.
    pub fn broadcast<OP, R>(&self, work: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        self.0
            .broadcast(|worker| work(BroadcastContext::of(worker)))
    }

    /// Returns the number of its threads, which never changes.
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.0.threads()
    }

    /// Returns the index of the calling thread; `None` if it is not one of this pool's.
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.with_worker(Worker::index)
    }

    /// Returns whether the calling thread has jobs that have not begun; `None` if it is not one of
    /// this pool's.
    #[inline]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.with_worker(Worker::has_jobs)
    }

    /// [`join()`](crate::join()) on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| join(a, b))
    }

    /// [`scope()`](crate::scope()) on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn scope<'scope, OP, R>(&self, body: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| scope(body))
    }

    /// [`scope_fifo()`](crate::scope_fifo()) on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn scope_fifo<'scope, OP, R>(&self, body: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| scope_fifo(body))
    }

    /// As [`in_place_scope()`](crate::in_place_scope()), with jobs that run on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn in_place_scope<'scope, OP, R>(&self, body: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        self.0.scope(|jobs| Scope::with(jobs, body))
    }

    /// As [`in_place_scope_fifo()`](crate::in_place_scope_fifo()), with jobs that run on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, body: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.in_place_scope(|scope| body(&ScopeFifo::of(scope)))
    }

    /// [`spawn()`](crate::spawn()) on this pool.
    pub fn spawn<OP>(&self, job: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.0.spawn(|_| job());
    }

    /// [`spawn_fifo()`](crate::spawn_fifo()) on this pool.
    pub fn spawn_fifo<OP>(&self, job: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn::spawn_fifo_into(&self.0, job);
    }

    /// [`spawn_broadcast()`](crate::spawn_broadcast()) on this pool.
    pub fn spawn_broadcast<OP>(&self, job: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        self.0
            .spawn_broadcast(move |worker| job(BroadcastContext::of(worker)));
    }

    /// As [`yield_now()`](crate::yield_now()), on this pool's threads; else returns `None`.
    pub fn yield_now(&self) -> Option<Yield> {
        self.with_worker(|worker| Yield::of(worker.yield_now()))
    }

    /// As [`yield_local()`](crate::yield_local()), on this pool's threads; else returns `None`.
    pub fn yield_local(&self) -> Option<Yield> {
        self.with_worker(|worker| Yield::of(worker.yield_local()))
    }

    fn with_worker<R>(&self, with: impl FnOnce(&Worker) -> R) -> Option<R> {
        Worker::current(|worker| worker.filter(|worker| self.0.has(worker)).map(with))
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .finish_non_exhaustive()
    }
}
