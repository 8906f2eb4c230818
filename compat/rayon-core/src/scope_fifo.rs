//! Scopes whose jobs begin in the order in which a thread has spawned them.

use std::fmt;

use crate::broadcast::BroadcastContext;
use crate::scope::{Scope, in_place_scope, scope};

/// Jobs that may borrow data that lives as long as `'scope`, of which the oldest begins first: see
/// [`scope_fifo()`].
pub struct ScopeFifo<'scope>(Scope<'scope>);

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
    scope(|scope| body(&ScopeFifo::of(scope)))
}

/// As [`scope_fifo()`], but calls `body` on the calling thread, inside of a pool or not.
///
/// # Panics
/// As there.
pub fn in_place_scope_fifo<'scope, OP, R>(body: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    in_place_scope(|scope| body(&ScopeFifo::of(scope)))
}

impl<'scope> ScopeFifo<'scope> {
    /// Makes a scope of the same jobs. It lives no longer than that one.
    pub(crate) fn of(scope: &Scope<'scope>) -> Self {
        Self(Scope { jobs: scope.jobs })
    }

    /// Runs `job` at some time before the scope ends, on any thread of the pool, after the jobs
    /// that the calling thread has spawned by this before have begun. It may spawn others. It takes
    /// an allocation.
    pub fn spawn_fifo<BODY>(&self, job: BODY)
    where
        BODY: FnOnce(&Self) + Send + 'scope,
    {
        let jobs = self.0.jobs.get();
        jobs.spawn_in_order(|_, jobs| Scope::with(jobs, |scope| job(&Self::of(scope))));
    }

    /// Runs `job` once on each thread of the pool, before the scope ends.
    pub fn spawn_broadcast<BODY>(&self, job: BODY)
    where
        BODY: Fn(&Self, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        self.0
            .spawn_broadcast(move |scope, context| job(&Self::of(scope), context));
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
