//! Scopes whose jobs begin in the order in which a thread has spawned them.

use std::fmt;

use filch_fork_join as fork_join;
use filch_fork_join::{Pool, Worker};

use crate::borrowed::Borrowed;
use crate::broadcast::BroadcastContext;
use crate::global;

/// Jobs that may borrow data that lives as long as `'scope`, of which the oldest begins first: see
/// [`scope_fifo()`].
pub struct ScopeFifo<'scope> {
    jobs: Borrowed<fork_join::Scope<'scope>>,
}

/// As [`scope`](crate::scope()), but of the jobs that one thread spawns into it, the oldest begins
/// first.
///
/// # Panics
/// As there.
pub fn scope_fifo<'scope, OP, R>(body: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    global::on_worker(|worker| worker.scope(|jobs| ScopeFifo::with(jobs, body)))
}

/// As [`scope_fifo()`], but calls `body` on the calling thread, inside of a pool or not.
///
/// # Panics
/// As there.
pub fn in_place_scope_fifo<'scope, OP, R>(body: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    Worker::current(|worker| match worker {
        Some(worker) => worker.scope(|jobs| ScopeFifo::with(jobs, body)),
        None => in_place_of(global::pool(), body),
    })
}

/// As [`in_place_scope_fifo`], in that pool.
pub(crate) fn in_place_of<'scope, R>(pool: &Pool, body: impl FnOnce(&ScopeFifo<'scope>) -> R) -> R {
    pool.scope(|jobs| ScopeFifo::with(jobs, body))
}

impl<'scope> ScopeFifo<'scope> {
    #[expect(unsafe_code, reason = "`ScopeFifo` does not name how long it lives")]
    fn with<R>(jobs: &fork_join::Scope<'scope>, body: impl FnOnce(&Self) -> R) -> R {
        let scope = Self {
            // SAFETY: `jobs` is borrowed for as long as this frame, which the scope does not leave.
            jobs: unsafe { Borrowed::new(jobs) },
        };
        body(&scope)
    }

    /// Runs `job` at some time before the scope ends, on any thread of the pool, after the jobs
    /// that the calling thread has spawned by this before have begun. It may spawn others. It takes
    /// an allocation.
    pub fn spawn_fifo<BODY>(&self, job: BODY)
    where
        BODY: FnOnce(&Self) + Send + 'scope,
    {
        self.jobs
            .get()
            .spawn_in_order(|_, jobs| Self::with(jobs, job));
    }

    /// Runs `job` once on each thread of the pool, before the scope ends.
    pub fn spawn_broadcast<BODY>(&self, job: BODY)
    where
        BODY: Fn(&Self, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let jobs = self.jobs.get();
        jobs.spawn_broadcast(move |worker, jobs| {
            Self::with(jobs, |scope| job(scope, BroadcastContext::of(worker)));
        });
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.jobs.get().fmt(f)
    }
}
