//! Scopes: as many jobs as one likes, which borrow from the caller, and have all ended at the end.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use filch_injector::Injector;
use filch_parker::Unparker;
use filch_sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use filch_sync::panic::discard;
use filch_sync::{Arc, Mutex, lock};

use crate::current;
use crate::job::{Awaited, Job, JobRef, Kind, Lent, Name, Payload, Thief};
use crate::shared::Shared;
use crate::worker::Worker;

/// Jobs that may borrow what lives as long as `'scope`: see [`Worker::scope`].
#[doc(alias = "WaitGroup")]
pub struct Scope<'scope> {
    /// Lent by the caller of `run`, for as long as this is there.
    shared: &'scope Arc<Shared>,
    open: OpenJobs,
    is_cancelled: AtomicBool,
    /// `true` if opened in an [isolated](Worker::isolate) region, of which its jobs are a part.
    is_isolated: bool,
    /// The jobs that were spawned in order.
    in_order: OnceLock<InOrder>,
    /// The payload of the first job that panicked.
    panic: Mutex<Option<Payload>>,
    /// The unparker of the thread that waits for the scope, if that has no slot in the pool.
    outsider: Option<Unparker>,
    /// Jobs borrow for `'scope`, neither more nor less.
    jobs: PhantomData<fn(&'scope ()) -> &'scope ()>,
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
        let wait = |open: &OpenJobs| self.wait_for(open);
        Scope::run(&self.shared, Some(self), None, body, wait)
    }

    #[doc(hidden)] // for compat/rayon-core: after the jobs that this thread has spawned so before
    pub fn spawn_in_order<F: FnOnce(&Self) + Send + 'static>(&self, job: F) {
        // SAFETY: the queue is the pool's, which a thread that has a turn keeps.
        let turn = unsafe { self.shared.in_order.push(JobRef::detached::<F>(job)) };
        self.spawn_job(turn, false);
    }
}

impl<'scope> Scope<'scope> {
    /// Makes a scope, which nothing else does, runs its body, and has `wait` wait for the jobs: in
    /// the caller's frame, as a stack holds many scopes. For the thread of that worker, or else for
    /// the one that is woken by that.
    #[inline(always)]
    pub(crate) fn run<R>(
        shared: &Arc<Shared>,
        worker: Option<&Worker>,
        outsider: Option<Unparker>,
        body: impl FnOnce(&Self) -> R,
        wait: impl FnOnce(&OpenJobs),
    ) -> R {
        let scope = Self {
            // SAFETY: the caller lends it until the return, and the scope is gone by then: the body
            // and the jobs, which this waits for, have no more than a reference to it.
            shared: unsafe { &*ptr::from_ref(shared) },
            open: OpenJobs::new(worker.map(Worker::index)),
            is_cancelled: AtomicBool::new(false),
            is_isolated: worker.is_some_and(Worker::is_isolated),
            in_order: OnceLock::new(),
            panic: Mutex::new(None),
            outsider,
            jobs: PhantomData,
        };
        let lent = Lent;
        let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        let nobody = scope.open.end_one(scope.open.owner());
        debug_assert_eq!(nobody, None, "this thread does not sleep");
        wait(&scope.open);
        lent.end(&scope.open);
        let panic = lock(&scope.panic).take();
        match (result, panic) {
            (Ok(result), None) => result,
            (Ok(_), Some(payload)) => resume_unwind(payload),
            (Err(payload), of_job) => {
                of_job.into_iter().for_each(discard);
                resume_unwind(payload)
            }
        }
    }

    /// Spawns a job that runs at some time before the scope ends, on any thread of the pool. It may
    /// spawn others. It takes an allocation.
    ///
    /// All that the caller did before happens before the job; what the job did happens before the
    /// end of the scope.
    pub fn spawn<F: FnOnce(&Worker, &Self) + Send + 'scope>(&self, job: F) {
        let make = |worker: Option<&Worker>| self.open_job::<F>(worker, job);
        current::spawn_job(self.shared, make, self.is_isolated);
    }

    /// [Spawns](Self::spawn) a job that begins after those that this thread has spawned so before.
    #[doc(hidden)] // for compat/rayon-core
    pub fn spawn_in_order<F: FnOnce(&Worker, &Self) + Send + 'scope>(&self, job: F) {
        // SAFETY: the scope waits for the job, which it counts.
        let make = |worker: Option<&Worker>| unsafe {
            (self.in_order.get_or_init(InOrder::new)).push(self.open_job::<F>(worker, job))
        };
        current::spawn_job(self.shared, make, self.is_isolated);
    }

    /// Spawns a job that runs once on each thread of the pool at some time before the scope ends.
    /// Those run it that the pool has now, each when it has ended what it runs, or waits in the
    /// middle of it. It takes some allocations for each.
    ///
    /// All the caller did before happens before all of it, and that before the end of the scope.
    pub fn spawn_broadcast<F: Fn(&Worker, &Self) + Send + Sync + 'scope>(&self, job: F) {
        let job = Arc::new(job);
        self.shared.tell_all(ptr::from_ref(&self.open).addr(), || {
            let job = Arc::clone(&job);
            self.open_job::<F>(None, move |worker, scope| job(worker, scope))
        });
    }

    /// Jobs of this scope that have not begun will not run. They are dropped instead, on the
    /// threads on which they would have run, before the scope ends. Those that run go on: they may
    /// ask [`is_cancelled`](Self::is_cancelled).
    pub fn cancel(&self) {
        // ORDERING: Relaxed: a wish. That a job was dropped is known by what was to happen in it.
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        // ORDERING: Relaxed: as in `cancel`.
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Makes a job that the scope waits for, to be put into a queue by the thread of that worker.
    /// It is called as `N` is.
    fn open_job<N>(
        &self,
        worker: Option<&Worker>,
        job: impl FnOnce(&Worker, &Self) + Send + 'scope,
    ) -> JobRef {
        self.open.add(worker.map(Worker::index));
        let scope = ptr::from_ref(self);
        let run = move |worker: &Worker| {
            // SAFETY: `run` waits for what is counted, and this has not ended.
            let scope = unsafe { &*scope };
            let run = || match scope.is_cancelled() {
                true => drop(job),
                false if scope.is_isolated => worker.isolate(|worker| job(worker, scope)),
                false => job(worker, scope),
            };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
                scope.keep(payload);
            }
            scope.end_one(worker);
        };
        // SAFETY: the closure is `Send`, the scope is `Sync`, and what the job borrows lives until
        // the scope ends, which waits for it.
        unsafe { JobRef::boxed::<_, N>(run) }
    }

    /// Takes one off for a job, on the thread of that worker. If it was the last one, the scope may
    /// be gone from then on, and the thread that waits for it is woken.
    pub(crate) fn end_one(&self, worker: &Worker) {
        // Kept: the scope may be gone once the job has ended.
        let outsider = self.outsider.clone();
        match (self.open.end_one(Some(worker.index())), outsider) {
            (None, _) => {}
            (Some(_), Some(outsider)) => _ = outsider.unpark(),
            (Some(sleeper), None) => worker.shared.wake(sleeper),
        }
    }

    /// Keeps the first panic; the others are lost.
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

/// Runs `work` as a job, which `put` puts in reach of the pool's threads, or runs. The calling
/// thread is none of them: it waits meanwhile, as `wait` says, and is woken by that unparker.
///
/// # Panics
/// If `work` does.
pub(crate) fn install<F: FnOnce(&Worker) -> R + Send, R: Send>(
    shared: &Arc<Shared>,
    work: F,
    unparker: Unparker,
    put: impl FnOnce(JobRef),
    wait: impl FnOnce(&OpenJobs),
) -> R {
    let mut result = None;
    Scope::run(
        shared,
        None,
        Some(unparker),
        |scope| {
            let run = |worker: &Worker, _: &Scope<'_>| result = Some(work(worker));
            put(scope.open_job::<F>(None, run));
        },
        wait,
    );
    result.unwrap_or_else(|| unreachable!("it has run, or panicked"))
}

/// Jobs that begin oldest first: for each, a deque has a turn, which runs the oldest that is left.
#[repr(C)]
pub(crate) struct InOrder(Job, Injector<JobRef>);

impl InOrder {
    const KIND: Kind = Kind {
        name: Name(type_name::<Self>),
        run: Self::run,
    };

    pub(crate) fn new() -> Self {
        Self(Job::new(&Self::KIND), Injector::new())
    }

    /// Puts a job in, and returns a turn.
    ///
    /// # Safety
    /// This stays where it is until the job has begun.
    unsafe fn push(&self, job: JobRef) -> JobRef {
        self.1.push(job);
        // SAFETY: the kind is that of this type. The turn that comes last begins the last job.
        unsafe { JobRef::new(NonNull::from(self).cast()) }
    }

    /// # Safety
    /// It is the first field of one, and the caller has a turn.
    unsafe fn run(turn: NonNull<Job>, worker: &Worker) {
        // SAFETY: it lies there until the last job has begun.
        match unsafe { turn.cast::<Self>().as_ref() }.1.pop() {
            Some(job) => job.run(worker),
            None => unreachable!("each job was put in before its turn"),
        }
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// The word's upper bits: if set, the worker in that slot sleeps until the jobs have ended. The low
/// half counts the jobs that have not ended, without those that the owner counts.
const SLEEPS: u64 = 1 << 63;
const SLEEPER: u32 = 32;
const COUNT: u64 = u32::MAX as u64;

/// The word's lead as long as the owner counts for itself: others may end more jobs than they have
/// opened.
const AHEAD: u64 = 1 << 31;

/// No slot.
const NOBODY: u32 = u32::MAX;

/// The number of a scope's jobs that have not ended, and the worker that sleeps until they have.
///
/// The sum of two numbers. Each thread changes the word, in one RMW; but the one that opened the
/// scope has a number for itself, which costs it none. When it goes to sleep it adds that to the
/// word, for good: then whoever ends the last job must see that it is the last one.
pub(crate) struct OpenJobs {
    word: AtomicU64,
    /// The owner's own, which may be negative.
    own: AtomicU64,
    /// The owner's slot, as long as it counts for itself.
    owner: AtomicU32,
}

impl OpenJobs {
    /// Counts one, the body. Its thread is the owner, if it has a slot.
    #[inline(always)]
    pub(crate) fn new(owner: Option<usize>) -> Self {
        let word = if owner.is_some() { AHEAD } else { 1 };
        Self {
            word: AtomicU64::new(word),
            own: AtomicU64::new(1_u64.wrapping_sub(word)),
            owner: AtomicU32::new(owner.map_or(NOBODY, |slot| slot as u32)),
        }
    }

    /// Returns the owner's slot, if it counts for itself.
    pub(crate) fn owner(&self) -> Option<usize> {
        // ORDERING: Relaxed: who finds itself there has written it, and goes by its own order.
        let owner = self.owner.load(Ordering::Relaxed);
        (owner != NOBODY).then_some(owner as usize)
    }

    /// Adds to what the owner counts for itself, if the thread in that slot is the owner, and does.
    fn count_own(&self, slot: Option<usize>, change: i64) -> bool {
        // ORDERING: Relaxed, both: the owner's thread alone reads and writes its number.
        if slot.is_none() || slot != self.owner() {
            return false;
        }
        let own = self.own.load(Ordering::Relaxed).wrapping_add_signed(change);
        assert!(own != AHEAD, "a scope has 2^31 jobs");
        self.own.store(own, Ordering::Relaxed);
        true
    }

    /// Counts a job more, by a job of the scope or its body. The calling thread is registered in
    /// that slot, if in any.
    pub(crate) fn add(&self, slot: Option<usize>) {
        if self.count_own(slot, 1) {
            return;
        }
        // ORDERING: Relaxed: the caller's own job is open.
        let before = self.word.fetch_add(1, Ordering::Relaxed);
        assert!(before & COUNT != COUNT, "a scope has 2^31 jobs");
    }

    /// Ends a job on the thread in that slot. Returns the slot of the worker to be woken, if that
    /// was the last job and a worker sleeps. The scope may be gone when this returns.
    #[must_use = "a worker that sleeps is to be woken"]
    pub(crate) fn end_one(&self, slot: Option<usize>) -> Option<usize> {
        if self.count_own(slot, -1) {
            return None;
        }
        // ORDERING: Release, for the Acquire in `is_done`: what the job did. That of other jobs,
        // too: an exchange goes on with the release sequences of those before. The slot of the
        // worker that sleeps is known: the job descends from what that worker did in it.
        let before = self.word.fetch_sub(1, Ordering::Release);
        let was_last = before & COUNT == 1 && before & SLEEPS != 0;
        was_last.then_some(((before & !SLEEPS) >> SLEEPER) as usize)
    }

    /// Returns the number of jobs, if the word is that. Called by the thread that opened the scope.
    fn count(&self, word: u64) -> u64 {
        // ORDERING: Relaxed: this thread's own number.
        let own = self.own.load(Ordering::Relaxed);
        (word & COUNT).wrapping_add(own)
    }
}

impl Awaited for OpenJobs {
    #[inline]
    fn is_done(&self) -> bool {
        // ORDERING: Acquire, for the Release in `end_one`.
        self.count(self.word.load(Ordering::Acquire)) == 0
    }

    fn thief(&self) -> Option<Thief> {
        None
    }

    fn sleep(&self, slot: usize) -> bool {
        // ORDERING: Relaxed: the slot says all. On failure, too: `is_done` is asked.
        let announced = self
            .word
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                let count = self.count(word);
                (count != 0).then_some(count | SLEEPS | (slot as u64) << SLEEPER)
            });
        if announced.is_err() {
            return false;
        }
        // ORDERING: Relaxed, both: by the owner, for itself.
        self.own.store(0, Ordering::Relaxed);
        self.owner.store(NOBODY, Ordering::Relaxed);
        true
    }
}
