//! Scopes: as many jobs as one likes, which borrow from the caller, and have all ended at the end.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use filch_parker::Unparker;
use filch_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use filch_sync::panic::discard;
use filch_sync::{Arc, Mutex, lock};

use crate::current;
use crate::job::scoped::{self, Scoped};
use crate::job::{JobRef, Payload};
use crate::latch::{Awaited, Thief};
use crate::shared::Shared;
use crate::worker::Worker;

/// Jobs that may borrow what lives as long as `'scope`: see [`Worker::scope`].
pub struct Scope<'scope> {
    shared: Arc<Shared<Worker>>,
    open: OpenJobs,
    is_cancelled: AtomicBool,
    /// It was opened in an [isolated](Worker::isolate) region, of which its jobs are a part.
    is_isolated: bool,
    /// What the first job that panicked said.
    panic: Mutex<Option<Payload>>,
    /// Of the thread that waits for the scope, if that has no seat in the pool.
    outsider: Option<Unparker>,
    /// Jobs borrow for `'scope`, neither more nor less.
    jobs: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

/// One job more than the low half says sleeps in that seat, if a bit above is set.
const SLEEPS: u64 = 1 << 63;
const SLEEPER: u32 = 32;
const COUNT: u64 = u32::MAX as u64;

/// How many jobs of a scope have not ended, and which worker sleeps until they have.
struct OpenJobs(AtomicU64);

impl OpenJobs {
    fn none() -> Self {
        Self(AtomicU64::new(0))
    }

    fn begin(&self) {
        // ORDERING: Relaxed: nobody else knows it yet.
        self.0.store(1, Ordering::Relaxed);
    }

    fn add(&self) {
        // ORDERING: Relaxed: the caller's own job is open.
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        assert!(
            before & COUNT != 0,
            "nobody waits for the jobs of this scope"
        );
        assert!(before & COUNT != COUNT, "a scope has 2^32 jobs");
    }

    /// A job has ended. The seat of the worker to be woken, if that was the last one and a worker
    /// sleeps. The scope may be gone when this returns.
    #[must_use = "a worker that sleeps is to be woken"]
    fn end_one(&self) -> Option<usize> {
        // ORDERING: Release, for the Acquire in `is_done`: what the job did. That of other jobs,
        // too: an exchange goes on with the release sequences of those before. The seat of the
        // worker that sleeps is known: the job descends from what that worker did in it.
        let before = self.0.fetch_sub(1, Ordering::Release);
        let was_last = before & COUNT == 1 && before & SLEEPS != 0;
        was_last.then_some(((before & !SLEEPS) >> SLEEPER) as usize)
    }
}

impl Awaited for OpenJobs {
    fn is_done(&self) -> bool {
        // ORDERING: Acquire, for the Release in `end_one`.
        self.0.load(Ordering::Acquire) & COUNT == 0
    }

    fn thief(&self) -> Option<Thief> {
        None
    }

    fn sleep(&self, seat: usize) -> bool {
        // ORDERING: Relaxed: the seat says all. On failure, too: `is_done` is asked.
        let announced = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                (word & COUNT != 0).then_some(word & COUNT | SLEEPS | (seat as u64) << SLEEPER)
            });
        announced.is_ok()
    }
}

impl Worker {
    /// Calls `body` here and now, with a scope in which it may [spawn](Scope::spawn) jobs, and
    /// returns what it returns when all of them have ended. What jobs borrow must live longer than
    /// this call.
    ///
    /// # Panics
    /// If `body` does, or a job: when all jobs have ended, with what `body` says, or the first job
    /// that panicked.
    pub fn scope<'scope, R>(&self, body: impl FnOnce(&Scope<'scope>) -> R) -> R {
        let scope = Scope {
            is_isolated: self.is_isolated(),
            ..Scope::new(Arc::clone(self.shared()), None)
        };
        scope.run(body, |open| self.wait_for(open))
    }
}

impl<'scope> Scope<'scope> {
    /// For a thread with a seat, or else for the one that is woken by that.
    pub(crate) fn new(shared: Arc<Shared<Worker>>, outsider: Option<Unparker>) -> Self {
        Self {
            shared,
            open: OpenJobs::none(),
            is_cancelled: AtomicBool::new(false),
            is_isolated: false,
            panic: Mutex::new(None),
            outsider,
            jobs: PhantomData,
        }
    }

    /// Runs the body, and has `wait` wait for the jobs.
    pub(crate) fn run<R>(
        self,
        body: impl FnOnce(&Self) -> R,
        wait: impl FnOnce(&dyn Awaited),
    ) -> R {
        let (scope, result) = scoped::run(self, body, |scope| wait(&scope.open));
        let panic = lock(&scope.panic).take();
        match (result, panic) {
            (Ok(result), None) => result,
            (Ok(_), Some(payload)) => resume_unwind(payload),
            (Err(payload), others) => {
                others.into_iter().for_each(discard);
                resume_unwind(payload)
            }
        }
    }

    /// A job that runs at some time before the scope ends, on any thread of the pool. It may spawn
    /// others. It takes an allocation.
    ///
    /// What the caller did before happens before the job; what the job did happens before the end
    /// of the scope.
    pub fn spawn(&self, job: impl FnOnce(&Worker, &Self) + Send + 'scope) {
        current::spawn_job(&self.shared, self.open_job(job), self.is_isolated);
    }

    /// A job that runs once on each thread of the pool at some time before the scope ends. Those
    /// run it that the pool has now, each when it has ended what it runs, or waits in the middle of
    /// that. It takes some allocations for each.
    ///
    /// What the caller did before happens before all of it, and that before the end of the scope.
    pub fn spawn_broadcast(&self, job: impl Fn(&Worker, &Self) + Send + Sync + 'scope) {
        let job = Arc::new(job);
        self.shared.tell_all(|| {
            let job = Arc::clone(&job);
            self.open_job(move |worker, scope| job(worker, scope))
        });
    }

    /// Jobs of this scope that have not begun will not run. They are dropped instead, on the
    /// threads on which they would have run, before the scope ends. Those that run go on: they may
    /// ask [`is_cancelled`](Self::is_cancelled).
    pub fn cancel(&self) {
        // ORDERING: Relaxed: a wish. That a job was dropped is known by what was to happen in it.
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        // ORDERING: Relaxed: as in `cancel`.
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// A job that the scope waits for, to be put into a queue.
    fn open_job(&self, job: impl FnOnce(&Worker, &Self) + Send + 'scope) -> JobRef<Worker> {
        scoped::open(self, move |worker: &Worker, scope| {
            let run = || match scope.is_cancelled() {
                true => drop(job),
                false if scope.is_isolated => worker.isolate(|worker| job(worker, scope)),
                false => job(worker, scope),
            };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
                scope.keep(payload);
            }
        })
    }

    /// The first panic is told; the others are lost.
    fn keep(&self, payload: Payload) {
        let mut first = lock(&self.panic);
        if first.is_none() {
            *first = Some(payload);
            return;
        }
        drop(first);
        discard(payload);
    }
}

impl Scoped<Worker> for Scope<'_> {
    fn begin(&self) {
        self.open.begin();
    }

    fn add(&self) {
        self.open.add();
    }

    fn end_one(&self, worker: Option<&Worker>) {
        // Kept: the scope may be gone once the job has ended.
        let outsider = self.outsider.clone();
        // The thread of the body does not sleep yet when that ends.
        match (self.open.end_one(), outsider, worker) {
            (Some(_), Some(outsider), _) => _ = outsider.unpark(),
            (Some(sleeper), None, Some(worker)) => worker.shared().wake(sleeper),
            (None, _, _) | (_, None, None) => {}
        }
    }

    fn open(&self) -> &impl Awaited {
        &self.open
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}
