//! Jobs in boxes that borrow from a scope, which does not go before they have ended.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::thread;

use super::heap::{Boxed, HeapJob};
use super::job_ref::JobRef;
use super::lent::lend;
use crate::latch::Awaited;

/// What jobs are given, and borrow from. It counts those that have not ended, and its body.
pub(crate) trait Scoped<W>: Sync {
    /// The proof that [`run`] waits for it.
    fn running(&self) -> &Running;

    /// Is done when the count is 0.
    fn open(&self) -> &impl Awaited;

    /// Adds one to the count, on the thread of that worker.
    fn add(&self, worker: Option<&W>);

    /// Takes one off for the body.
    fn end_body(&self);

    /// Takes one off for a job, on the thread of that worker. If it was the last one, the scope may
    /// be gone from then on, and the thread that waits for it is woken. No panic comes out of it.
    fn end_one(&self, worker: &W);
}

/// A scope that has this is one that [`run`] waits for.
pub(crate) struct Running(());

/// Makes a scope, runs its body, and has `wait` wait for its jobs. Returns what the body returned
/// or said, and what `wait` returned.
#[inline(always)]
pub(crate) fn run<W, S: Scoped<W>, R, T>(
    make: impl FnOnce(Running) -> S,
    body: impl FnOnce(&S) -> R,
    wait: impl FnOnce(&S) -> T,
) -> (thread::Result<R>, T) {
    let scope = make(Running(()));
    lend(scope.open(), || {
        let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        scope.end_body();
        (result, wait(&scope))
    })
}

/// A job of a scope, to be put into a queue by the thread of that worker, and called as `N` is. No
/// panic may come out of it.
pub(crate) fn open<'scope, W: 'static, S: Scoped<W> + 'scope, N>(
    scope: &S,
    worker: Option<&W>,
    job: impl FnOnce(&W, &S) + Send + 'scope,
) -> JobRef<W> {
    let Running(()) = scope.running();
    scope.add(worker);
    let content = Lent {
        scope: NonNull::from(scope),
        job,
        name: PhantomData::<N>,
    };
    // SAFETY: the closure is `Send`, the scope is `Sync`, and what the job borrows lives until the
    // scope ends, which waits for it.
    unsafe { HeapJob::boxed(content) }
}

/// A job, and the scope that it borrows.
struct Lent<S, F, N> {
    scope: NonNull<S>,
    job: F,
    name: PhantomData<N>,
}

impl<S, F, N> Lent<S, F, N> {
    fn lender<'lent>(&self) -> &'lent S {
        // SAFETY: the scope lies where `run` waits until this job has ended.
        unsafe { self.scope.as_ref() }
    }
}

impl<W, S: Scoped<W>, F: FnOnce(&W, &S), N> Boxed<W> for Lent<S, F, N> {
    type Named = N;

    fn run(self, worker: &W) {
        let scope = self.lender();
        (self.job)(worker, scope);
        scope.end_one(worker);
    }

    fn scope(&self) -> *const () {
        ptr::from_ref(self.lender().open()).cast()
    }
}
