//! Jobs in boxes: of a scope, or such that nobody waits for.

use std::any::type_name;
use std::marker::PhantomData;
#[cfg(not(all(loom, feature = "loom")))]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

use crate::job::{Job, JobRef, Kind, Name};
use crate::scope::Scope;
use crate::worker::Worker;

/// Makes a job of a scope, called as `N` is, on the thread of that worker. No panic may come out of
/// `job`.
pub(crate) fn of_scope<'scope, N>(
    scope: &Scope<'scope>,
    worker: Option<&Worker>,
    job: impl FnOnce(&Worker, &Scope<'scope>) + Send + 'scope,
) -> JobRef {
    scope.add_one(worker);
    let run = move |worker: &Worker, scope: Erased| {
        // SAFETY: `Scope::run` waits for what is counted, and this has not ended.
        let scope = unsafe { &*scope.cast::<Scope<'scope>>() };
        job(worker, scope);
        scope.end_one(worker);
    };
    // SAFETY: the closure is `Send`, the scope is `Sync`, and what the job borrows lives until the
    // scope ends, which waits for it.
    unsafe { BoxedJob::<_, N>::make(ptr::from_ref(scope).cast(), run) }
}

/// Makes a job that nobody waits for, called as `N` is. A panic is told to the host. One that is
/// never run leaks.
#[cfg(not(all(loom, feature = "loom")))] // where nothing is spawned without a scope
pub(crate) fn detached<N>(job: impl FnOnce(&Worker) + Send + 'static) -> JobRef {
    let run = |worker: &Worker, _: Erased| {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| job(worker))) {
            worker.host.tell_panic(payload);
        }
    };
    // SAFETY: it may change threads, and borrows nothing.
    unsafe { BoxedJob::<_, N>::make(ptr::null(), run) }
}

/// A scope of any lifetime, or null.
type Erased = *const Scope<'static>;

/// A closure in a box, and the scope of which it is a job.
#[repr(C)]
struct BoxedJob<F, N> {
    job: Job,
    scope: Erased,
    run: F,
    name: PhantomData<N>,
}

impl<F: FnOnce(&Worker, Erased), N> BoxedJob<F, N> {
    const KIND: Kind = Kind {
        name: Name(type_name::<N>),
        run: Self::run,
        scope: Self::scope,
    };

    /// # Safety
    /// The closure may change threads, what it borrows lives until it has run, and no panic comes
    /// out of it.
    unsafe fn make(scope: Erased, run: F) -> JobRef {
        let job = Box::new(Self {
            job: Job::new(&Self::KIND),
            scope,
            run,
            name: PhantomData,
        });
        // SAFETY: the kind is that of this type, and the box is the job's. The rest is the
        // caller's.
        unsafe { JobRef::new(NonNull::from(Box::leak(job)).cast()) }
    }

    /// # Safety
    /// It is the first field of such a job, and the caller has that.
    unsafe fn run(job: NonNull<Job>, worker: &Worker) {
        // SAFETY: `make` made it of a box, and it is run once.
        let boxed = unsafe { *Box::from_raw(job.cast::<Self>().as_ptr()) };
        (boxed.run)(worker, boxed.scope);
    }

    /// # Safety
    /// As for [`run`](Self::run), and that has not been called.
    unsafe fn scope(job: NonNull<Job>) -> *const () {
        // SAFETY: `make` made it of a box, which is there.
        let scope = unsafe { job.cast::<Self>().as_ref() }.scope;
        // SAFETY: null, or a scope that waits for this job.
        match unsafe { scope.as_ref() } {
            Some(scope) => scope.count_address(),
            None => ptr::null(),
        }
    }
}
