//! Scopes whose jobs begin in the order in which a thread has spawned them.

use std::fmt;
use std::sync::OnceLock;

use filch_fork_join as fork_join;
use filch_fork_join::{Pool, Worker};

use crate::borrowed::Borrowed;
use crate::broadcast::BroadcastContext;
use crate::global;
use crate::spawn::Fifo;

/// Jobs that may borrow data that lives as long as `'scope`, of which the oldest begins first: see
/// [`scope_fifo()`].
pub struct ScopeFifo<'scope> {
    jobs: Borrowed<fork_join::Scope<'scope>>,
    spawned: Borrowed<Spawned<'scope>>,
}

/// The jobs that each thread has spawned into a scope, made at the first one.
struct Spawned<'scope>(Box<[OnceLock<Fifo<'scope, ScopeFifo<'scope>>>]>);

impl Spawned<'_> {
    fn by(threads: usize) -> Self {
        Self((0..threads).map(|_| OnceLock::new()).collect())
    }
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
    global::on_worker(|worker| on(worker, body))
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
        Some(worker) => on(worker, body),
        None => in_place_of(global::pool(), body),
    })
}

fn on<'scope, R>(worker: &Worker, body: impl FnOnce(&ScopeFifo<'scope>) -> R) -> R {
    let spawned = Spawned::by(worker.threads());
    worker.scope(|jobs| ScopeFifo::with(jobs, &spawned, body))
}

/// As [`in_place_scope_fifo`], in that pool.
pub(crate) fn in_place_of<'scope, R>(pool: &Pool, body: impl FnOnce(&ScopeFifo<'scope>) -> R) -> R {
    let spawned = Spawned::by(pool.threads());
    pool.scope(|jobs| ScopeFifo::with(jobs, &spawned, body))
}

impl<'scope> ScopeFifo<'scope> {
    /// Calls `body` with a scope. `spawned` outlives `jobs`, a scope that waits for its jobs.
    #[expect(unsafe_code, reason = "`ScopeFifo` does not name how long it lives")]
    fn with<R>(
        jobs: &fork_join::Scope<'scope>,
        spawned: &Spawned<'scope>,
        body: impl FnOnce(&Self) -> R,
    ) -> R {
        let scope = Self {
            // SAFETY: both are borrowed for as long as this frame, which the scope does not leave.
            jobs: unsafe { Borrowed::new(jobs) },
            // SAFETY: as above. Copies of it are in jobs of `jobs`; `on` and `in_place_of`, whose
            // frame has it, do not return before those have ended.
            spawned: unsafe { Borrowed::new(spawned) },
        };
        body(&scope)
    }

    /// Runs `job` at some time before the scope ends, on any thread of the pool, after the jobs
    /// that the calling thread has spawned by this before have begun. It may spawn others. It takes
    /// two allocations.
    pub fn spawn_fifo<BODY>(&self, job: BODY)
    where
        BODY: FnOnce(&Self) + Send + 'scope,
    {
        let jobs = self.jobs.get();
        let spawned = self.spawned;
        // A thread of another pool with that index is as good: there are as many turns as jobs.
        let index = Worker::current(|worker| worker.map(Worker::index))
            .filter(|&index| index < spawned.get().0.len());
        let Some(index) = index else {
            // The queue for jobs from outside has that order.
            return jobs.spawn(move |_, jobs| Self::with(jobs, spawned.get(), job));
        };
        spawned.get().0[index].get_or_init(Fifo::default).push(job);
        jobs.spawn(move |_, jobs| {
            let spawned = spawned.get();
            let fifo = spawned.0[index].get_or_init(Fifo::default);
            Self::with(jobs, spawned, |scope| fifo.run_oldest(scope));
        });
    }

    /// Runs `job` once on each thread of the pool, before the scope ends.
    pub fn spawn_broadcast<BODY>(&self, job: BODY)
    where
        BODY: Fn(&Self, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let spawned = self.spawned;
        let jobs = self.jobs.get();
        jobs.spawn_broadcast(move |worker, jobs| {
            let context = BroadcastContext::of(worker);
            Self::with(jobs, spawned.get(), |scope| job(scope, context));
        });
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopeFifo")
            .field("jobs", self.jobs.get())
            .finish_non_exhaustive()
    }
}
