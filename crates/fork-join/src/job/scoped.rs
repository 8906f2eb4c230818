//! Jobs in boxes that borrow from a scope, which does not go before they have ended.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::thread;

use super::heap::HeapJob;
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

/// A job of a scope, to be put into a queue by the thread of that worker. No panic may come out of
/// it.
pub(crate) fn open<'scope, W, S: Scoped<W> + 'scope>(
    scope: &S,
    worker: Option<&W>,
    job: impl FnOnce(&W, &S) + Send + 'scope,
) -> JobRef<W> {
    let Running(()) = scope.running();
    scope.add(worker);
    let lent = Lent(NonNull::from(scope));
    let run = move |worker: &W| {
        // SAFETY: the scope lies where `run` waits until this job has ended.
        let scope = unsafe { lent.get() };
        job(worker, scope);
        scope.end_one(worker);
    };
    // SAFETY: the closure is `Send`, and what it borrows lives until the scope ends, which waits
    // for it.
    unsafe { HeapJob::boxed(run) }
}

/// The scope of a job.
struct Lent<S>(NonNull<S>);

// SAFETY: a reference to it, which is `Sync`.
unsafe impl<S: Sync> Send for Lent<S> {}

impl<S> Lent<S> {
    /// # Safety
    /// It has not ended.
    unsafe fn get<'lent>(self) -> &'lent S {
        // SAFETY: the caller's.
        unsafe { self.0.as_ref() }
    }
}
