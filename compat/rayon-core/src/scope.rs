//! Scopes: any number of jobs, which borrow from the caller.

use std::fmt;

use filch_fork_join as fork_join;
use filch_fork_join::Worker;

use crate::borrowed::Borrowed;
use crate::broadcast::BroadcastContext;
use crate::global;

/// Jobs that may borrow data that lives as long as `'scope`: see [`scope()`].
pub struct Scope<'scope> {
    pub(crate) jobs: Borrowed<fork_join::Scope<'scope>>,
}

/// Calls `body` on a thread of the caller's pool, or of the global pool, with a scope into which it
/// may [spawn](Scope::spawn) jobs. Returns its result when all jobs have ended.
///
/// Everything before this call happens before the jobs, and they happen before the return.
///
/// ```
/// let (mut left, mut right) = (0, 0);
/// rayon_core::scope(|scope| {
///     scope.spawn(|_| left = 1);
///     right = 2;
/// });
/// assert_eq!((left, right), (1, 2));
/// ```
///
/// # Panics
/// If `body` panics, or a job: after all jobs have ended, with the panic of `body`, or of one job.
pub fn scope<'scope, OP, R>(body: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    global::on_worker(|worker| worker.scope(|jobs| Scope::with(jobs, body)))
}

/// As [`scope()`], but calls `body` on the calling thread, inside of a pool or not.
///
/// # Panics
/// As there.
pub fn in_place_scope<'scope, OP, R>(body: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    Worker::current(|worker| match worker {
        Some(worker) => worker.scope(|jobs| Scope::with(jobs, body)),
        None => global::pool().scope(|jobs| Scope::with(jobs, body)),
    })
}

impl<'scope> Scope<'scope> {
    #[expect(unsafe_code, reason = "`Scope` does not name how long it lives")]
    pub(crate) fn with<R>(jobs: &fork_join::Scope<'scope>, body: impl FnOnce(&Self) -> R) -> R {
        let scope = Self {
            // SAFETY: `jobs` is borrowed for as long as this frame, which the scope does not leave.
            jobs: unsafe { Borrowed::new(jobs) },
        };
        body(&scope)
    }

    /// Runs `job` at some time before the scope ends, on any thread of the pool. It may spawn
    /// others. It takes an allocation.
    ///
    /// A thread takes its own youngest jobs first, and the oldest of others.
    pub fn spawn<BODY>(&self, job: BODY)
    where
        BODY: FnOnce(&Self) + Send + 'scope,
    {
        self.jobs.get().spawn(|_, jobs| Self::with(jobs, job));
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

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.jobs.get().fmt(f)
    }
}
